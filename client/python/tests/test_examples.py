"""The programs of examples/, as users run them."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"
GRADIENT = "grad_input -1 0 1 1 1 1 1 1\n"
SESSION = """\
out -1.342 -0.447 0.447 1.342 -1.342 -0.447 0.447 1.342
grad_input 0.268 -0.358 -0.089 0.179 -0.716 1.252 -0.358 -0.179
grad_gamma -1.342 0.000 -0.894 0.000
grad_beta 1.000 0.000 2.000 0.000
neg_log_likelihood 1.504
grad -0.167 0.333 -0.167 0.000 0.333 -0.333 -0.167 0.333 -0.167
"""


def run(name, address):
    return subprocess.run([sys.executable, EXAMPLES / name, address], capture_output=True, text=True, timeout=60, check=False,
                          env=os.environ)


@pytest.mark.parametrize("name, printed", [("gradient.py", GRADIENT), ("session.py", SESSION), ("shared.py", GRADIENT)])
def test_what_it_prints(server, name, printed):
    result = run(name, server.address)
    assert (result.returncode, result.stdout) == (0, printed), result.stderr


def test_the_program_learns(server):
    result = run("program.py", server.address)
    assert result.returncode == 0, result.stderr
    *steps, accuracy = result.stdout.splitlines()
    losses = [float(re.fullmatch(r"step +\d+ loss (\d+\.\d{3})", line)[1]) for line in steps]
    assert len(losses) == 4 and losses[-1] < losses[0] / 4
    assert float(accuracy.removeprefix("accuracy ")) > 0.9


@pytest.mark.parametrize("name", ["gradient.py", "session.py", "shared.py", "program.py"])
def test_without_a_server(name):
    result = run(name, "localhost:1")
    assert result.returncode == 1 and result.stderr.startswith("UNAVAILABLE: ") and result.stderr.count("\n") == 1
