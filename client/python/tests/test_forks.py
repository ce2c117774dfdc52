"""Clients in processes that fork, each test a program of its own: gRPC's asyncio, which other tests use, does not survive a fork."""

import os
import subprocess
import sys
import tempfile

import grpc
import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

START = """
import os, sys
import numpy as np
import opserve

def fork(check):
    print("forking", flush=True)
    child = os.fork()
    if child == 0:
        os._exit(0 if check() else 2)
    print("forked", flush=True)
    assert os.waitpid(child, 0)[1] == 0
"""

CHANNEL = """
def call():
    return client.execute("Relu", {"self": np.ones(3, np.float32)}, timeout=10)["out"].sum() == 3

with opserve.connect(sys.argv[1]) as client:
    for _ in range(5):
        assert call()
        fork(lambda: call() and call())
    assert call()
print("done")
"""

MEMORY = """
from opserve import _local_memory

def relu(value):
    return client.execute("Relu", {"self": np.full(_local_memory.LARGE_BYTES // 4, value, np.float32)}, timeout=10)["out"]

def is_in_memory(array):
    return client._memory.regions.locate(array) is not None

def check():
    relu(5)
    mine = relu(6)
    assert is_in_memory(mine) and not is_in_memory(kept)
    relu(9)
    return (mine == 6).all() and (kept == 2).all() and (client.execute("Relu", {"self": kept}, timeout=10)["out"] == 2).all()

with opserve.connect(sys.argv[1]) as client:
    relu(1)
    kept = relu(2)
    assert is_in_memory(kept)
    fork(check)
    assert (kept == 2).all()
print("done")
"""


def lines_of(program, address):
    """What the program says. gRPC 1.51's own handler may wait for ever within fork, for a thread that waits for the fork; that is not
    tested here, so the program is started again then."""
    for _ in range(6):
        with tempfile.TemporaryFile("w+") as out:
            command = [sys.executable, "-W", "ignore", "-c", START + program, address]
            with subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=os.environ) as running:
                try:
                    running.wait(timeout=20)
                except subprocess.TimeoutExpired:
                    running.kill()
            out.seek(0)
            lines = [line for line in out.read().splitlines() if "thread_pool.cc" not in line]
        if not (grpc.__version__.startswith("1.51.") and lines[-1:] == ["forking"]):
            break
    return lines


def test_a_forked_process_has_a_channel_of_its_own(server):
    assert lines_of(CHANNEL, server.address) == ["forking", "forked"] * 5 + ["done"]


def test_a_forked_process_has_memory_of_its_own(server):
    assert lines_of(MEMORY, server.address) == ["forking", "forked", "done"]
