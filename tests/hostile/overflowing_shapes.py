"""Calls whose numbers multiply to more than 2^63: shapes, strides, offsets, N x C x HxW with a zero among them,
lengths, ranks up to 64, views that overlap themselves; planned, executed, in batches and on buffers. Most of them are
refused; none may overflow.
"""

import itertools
import random

import wire
from attack import Attack, Target, run

EXTENTS = [0, 1, 2, 3, 1 << 16, 1 << 31, 1 << 32, 1 << 40, 1 << 62, (1 << 63) - 1, -1, -(1 << 63)]
DTYPES = [0, wire.FLOAT32, wire.FLOAT16, wire.FLOAT64, wire.INT8, wire.INT64, wire.BOOL, 14, 99]


def dims(rng: random.Random) -> list[int]:
    rank = rng.choice([0, 1, 2, 3, 4, 8, 9, 64, 65])
    return [rng.choice(EXTENTS if rng.random() < 0.5 else [1, 2, 0, 1 << 10]) for _ in range(rank)]


def some_tensor(rng: random.Random, name: str, shape: list[int] | None = None) -> bytes:
    shape = dims(rng) if shape is None else shape
    strides = [rng.choice(EXTENTS if rng.random() < 0.5 else [0, 1]) for _ in shape] if rng.random() < 0.6 else []
    offset = rng.choice([0, 0, 0, 1, 1 << 62, (1 << 63) - 1])
    return wire.tensor(
        name, rng.choice(DTYPES if rng.random() < 0.3 else [wire.FLOAT32]), shape, strides, offset, raw=rng.randrange(2)
    )


def norm(rng: random.Random) -> bytes:
    # Often with a zero, which makes any product 0 and says nothing of the others.
    n, c, hw, group = (
        rng.choice(EXTENTS if rng.random() < 0.3 else [0, 1, 1 << 31, 1 << 40, 1 << 62]) for _ in range(4)
    )
    group = group if rng.random() < 0.5 else 1
    data, statistics = [n, c, hw], [n, group]
    forward = rng.random() < 0.5
    names = (
        (("self", data), ("gamma", [c]), ("beta", [c]))
        if forward
        else (("grad_out", data), ("input", data), ("mean", statistics), ("rstd", statistics), ("gamma", [c]))
    )
    inputs = [
        wire.repeated(name, shape, raw=0)
        for name, shape in names
        if name not in ("gamma", "beta") or rng.random() < 0.3
    ]
    mask = {} if forward else {"output_mask": [rng.random() < 0.3 for _ in range(3)]}
    return wire.call("GroupNorm" if forward else "GroupNormBackward", inputs, N=n, C=c, HxW=hw, group=group, **mask)


def ctc(rng: random.Random) -> bytes:
    t, n, c, s = (rng.choice(EXTENTS) for _ in range(4))
    samples = n if 0 <= n <= 3 else 1
    inputs = [
        wire.repeated("grad_out", [n], raw=0),
        wire.repeated("log_probs", [t, n, c], raw=0),
        wire.repeated("targets", [n, s], wire.INT64, raw=1),
        wire.repeated("neg_log_likelihood", [n], raw=0),
        wire.repeated("log_alpha", [n, t, rng.choice([2 * s + 1, s])], raw=0),
    ]
    forward = rng.random() < 0.5
    return wire.call(
        "CtcLoss" if forward else "CtcLossBackward",
        inputs[1:3] if forward else inputs,
        input_lengths=[rng.choice(EXTENTS) for _ in range(samples)],
        target_lengths=[rng.choice([s, 0, 1 << 62])] * samples,
        blank=rng.choice([0, 0, 1, -1, 1 << 62]),
    )


def loss(rng: random.Random) -> bytes:
    shape = dims(rng)
    inputs = [
        some_tensor(rng, name, shape if rng.random() < 0.7 else None) for name in ("grad_output", "self", "target")
    ]
    return wire.call(
        *rng.choice([("L1LossBackward", inputs), ("L1Loss", inputs[1:]), ("SmoothL1Loss", inputs[1:])]),
        reduction=rng.choice([0, 1, 2, 3, -1]),
    )


def overflow(target: Target) -> None:
    seed = random.randrange(1 << 32)
    rng = random.Random(seed)
    target.note(f"seed {seed}")
    connection = target.connect(target.index)
    raw = [wire.floats(1.0), bytes(8)]
    for making in itertools.cycle((norm, ctc, loss)):
        calls = [making(rng) for _ in range(20)]
        started = [connection.start("ExecuteBatch", wire.batch(calls, raw), "50m")]
        started += [
            connection.start(method, wire.execute(each, raw if method == "Execute" else []), "50m")
            for each in calls[:8]
            for method in ("Execute", "GetWorkspaceSize")
        ]
        connection.poll_until(lambda: all(call.ended for call in started), 1.0)
        for call in started:
            connection.forget(call)


if __name__ == "__main__":
    run(Attack([overflow, overflow], rss_mib=600))
