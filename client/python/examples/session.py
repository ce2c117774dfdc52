"""A session on an opserve server: GroupNorm, then its gradient; CtcLoss, then its gradient. What a forward call leaves for the
backward one (mean, rstd; log_alpha) never leaves the device.

Usage: session.py [TARGET]     (default localhost:8500)
"""

import sys

import numpy as np

import opserve


def group_norm(session):
    sizes = {"N": 1, "C": 4, "HxW": 2, "group": 2}
    x = session.tensor(np.arange(8, dtype=np.float32).reshape(1, 4, 2))
    gamma = session.full(4, 1.0)
    grad = np.array([1, 0, 0, 0, 0, 2, 0, 0], np.float32).reshape(1, 4, 2)
    forward = session.execute("GroupNorm", {"self": x, "gamma": gamma}, sizes, eps=1e-5)
    kept = {name: forward[name] for name in ("mean", "rstd")}
    backward = session.execute("GroupNormBackward", {"grad_out": grad, "input": x, "gamma": gamma, **kept}, sizes)
    return {"out": forward["out"], **backward}


def ctc_loss(session):
    steps, batch, classes = 3, 1, 3
    labels = {"input_lengths": [steps], "target_lengths": [1], "blank": 0, "zero_infinity": False}
    log_probs = session.full((steps, batch, classes), np.log(1 / classes))
    targets = session.tensor(np.array([[2]], np.int64))
    forward = session.execute("CtcLoss", {"log_probs": log_probs, "targets": targets}, labels)
    grad_out = session.full(batch, 1.0)
    backward = session.execute(
        "CtcLossBackward", {"grad_out": grad_out, "log_probs": log_probs, "targets": targets, **forward}, labels)
    return {"neg_log_likelihood": forward["neg_log_likelihood"], **backward}


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else "localhost:8500"
    try:
        with opserve.connect(target) as client, client.session(timeout=30) as session:
            for name, tensor in {**group_norm(session), **ctc_loss(session)}.items():
                print(name, *(f"{element:.3f}" for element in tensor.numpy().flat))
    except opserve.OpserveError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
