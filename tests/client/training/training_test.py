#!/usr/bin/env python3
"""The losses of the example that trains a network are those of the same training by PyTorch."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "support"))

import running_server

# float32 sums in other orders drift apart from step to step.
FIRST, FURTHER = 1e-5, 2e-2


def main():
    want = {int(step): loss for step, loss in json.loads((HERE / "losses.json").read_text(encoding="utf-8")).items()}
    with tempfile.TemporaryDirectory() as folder, running_server.running_server(pathlib.Path(folder)) as address:
        program = running_server.bin_folder() / "training_example"
        done = subprocess.run([program, address, str(max(want) + 1)], capture_output=True, text=True, timeout=240, check=False)
    if done.returncode != 0:
        sys.exit(f"status {done.returncode}:\n{done.stderr}")
    got = {int(step): float(loss) for step, loss in re.findall(r"^step (\d+) loss (\S+)$", done.stdout, re.MULTILINE)}
    if got.keys() != want.keys():
        sys.exit(f"want losses of the steps {sorted(want)}, got\n{done.stdout}")
    for step, loss in want.items():
        tolerance = FIRST if step == 0 else FURTHER
        if abs(got[step] - loss) > tolerance * max(loss, 0.1):
            sys.exit(f"step {step}: want a loss of {loss:.6f} within {tolerance:g}, got {got[step]:.6f}\n{done.stdout}")
    print(f"{len(want)} losses are those of PyTorch; the last is {got[max(want)]:.4f}")


if __name__ == "__main__":
    main()
