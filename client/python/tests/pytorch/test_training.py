"""The training of examples/ctc.py: the same losses as PyTorch's, step by step."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
import torch

import opserve.torch.functional as remote

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/ctc.py"


def test_ctc(torch_client):
    result = subprocess.run([sys.executable, EXAMPLE, torch_client._channel.target.address, "50"], capture_output=True, text=True,
                            timeout=120, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert result.returncode == 0, result.stderr
    rows = [tuple(map(float, row)) for row in re.findall(r"calls (\S+) session (\S+) messages (\S+) here (\S+)", result.stdout)]
    calls, session, messages, here = zip(*rows)
    assert len(here) == 50 and here[-1] < here[0] / 10
    assert calls == pytest.approx(here, rel=1e-3, abs=1e-3) and session == calls and messages == calls


def test_what_is_compiled_leaves_the_call_as_it_is(used):
    if not hasattr(torch, "compile") or sys.version_info >= (3, 14):
        pytest.skip("this PyTorch compiles nothing here")
    function = torch.compile(lambda x: remote.tanh(x * 2).sum() + remote.matmul(x, x.mT).sum(), backend="eager")
    x = torch.randn(3, 4, requires_grad=True)
    function(x).backward()
    gradient, x.grad = x.grad, None
    (torch.tanh(x * 2).sum() + (x @ x.mT).sum()).backward()
    torch.testing.assert_close(gradient, x.grad, rtol=1e-4, atol=1e-5)
