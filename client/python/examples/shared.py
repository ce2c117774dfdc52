"""Computes a gradient on arrays that an opserve server on this host shares: nothing of them is sent.

Usage: shared.py [TARGET]     (default localhost:8500; the server needs --allow-shared-memory)
"""

import sys

import numpy as np

import opserve


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else "localhost:8500"
    try:
        with opserve.connect(target) as client, client.shared_memory(4096) as memory:
            inputs = {name: memory.array((4, 2)) for name in ("grad_out", "self", "target")}
            inputs["grad_out"][:] = inputs["target"][:] = 1
            inputs["self"][:] = np.arange(8).reshape(4, 2)
            grad_input = memory.array((4, 2))
            client.execute("SmoothL1LossBackward", inputs, out={"grad_input": grad_input}, reduction="none", beta=1.0)
            print("grad_input", *(f"{element:g}" for element in grad_input.flat))
    except opserve.OpserveError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
