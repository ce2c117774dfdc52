"""Runs the tests of client/python against the server under test.

Usage: python_test.py package|torch

`package` is all but tests/pytorch, with this Python, whose packages must be there. `torch` is tests/pytorch, with this Python or the
one that $OPSERVE_TORCH_PYTHON names: a skip where it has no PyTorch.
"""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/support"))

import toolchains

PACKAGE = ROOT / "client/python"
NEEDED = ("grpc", "google.protobuf", "numpy", "onnx", "pytest")


def has(python, module):
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


def main():
    part = sys.argv[1]
    python = os.environ.get("OPSERVE_TORCH_PYTHON", sys.executable) if part == "torch" else sys.executable
    for module in NEEDED:
        if not has(python, module):
            toolchains.lacking(f"{module}, a package of {python}")
    if part == "torch" and not has(python, "torch"):
        toolchains.skip(f"{python} has no PyTorch ($OPSERVE_TORCH_PYTHON may name one that has)")
    chosen = ["tests/pytorch"] if part == "torch" else ["tests", "--ignore=tests/pytorch"]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *chosen]
    return subprocess.run(command, cwd=PACKAGE, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
