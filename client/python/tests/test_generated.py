"""What is generated and checked in is what would be generated now."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parents[1]
USE = """
import numpy as np
import opserve
import opserve.aio

def use(c: opserve.Client) -> None:
    reveal_type(c.ops.hardshrink(np.ones(3), lambd=0.5))
    reveal_type(c.ops.group_norm(np.ones(3), N=1, C=1, HxW=3, group=1))
    c.ops.hardshrink(np.ones(3))
    c.ops.l1_loss(self=1.0, target=2.0, reduction="men")
    reveal_type(c.ops.of_a_newer_server)

async def use_async(c: opserve.aio.Client) -> None:
    reveal_type(await c.ops.relu(np.ones(3)))
"""


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=os.environ, cwd=HERE)


def test_messages():
    if not shutil.which("protoc"):
        pytest.skip("protoc is not installed")
    if not run("protoc", "--version").stdout.startswith("libprotoc 3.21."):
        pytest.skip("the messages are made by protoc 3.21")
    result = run(sys.executable, "generate_messages.py", "--check")
    assert result.returncode == 0, result.stdout + result.stderr


def test_types_of_operators(server):
    result = run(sys.executable, "generate_operators.py", "--check", server.address)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_package_is_typed():
    pytest.importorskip("mypy")
    result = run(sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "--cache-dir", os.devnull)
    assert result.returncode == 0, result.stdout


def test_programs_that_use_it_are_typed(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "use.py").write_text(USE)
    told = run(sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, str(tmp_path / "use.py")).stdout
    lines = [line.partition("use.py:")[2] for line in told.splitlines() if "use.py:" in line]
    assert [line.split(":")[0] for line in lines if "error" in line] == ["9", "10"], told
    assert "ndarray" in lines[0] and "Result" in lines[1] and "Any" in lines[-2] and "ndarray" in lines[-1], told
