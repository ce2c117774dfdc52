"""Computes a gradient on an opserve server.

Usage: gradient.py [TARGET]     (default localhost:8500)
"""

import sys

import numpy as np

import opserve


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else "localhost:8500"
    ones = np.ones((4, 2), np.float32)
    inputs = {"grad_out": ones, "self": np.arange(8, dtype=np.float32).reshape(4, 2), "target": ones}
    try:
        with opserve.connect(target) as client:
            result = client.execute("SmoothL1LossBackward", inputs, reduction="none", beta=1.0)
    except opserve.OpserveError as error:
        sys.exit(str(error))
    for name, array in result.items():
        print(name, *(f"{element:g}" for element in array.flat))


if __name__ == "__main__":
    main()
