"""The package beside bare grpcio: calls of 8 floats a second, one by one and 16 at a time, and bytes a second at 16 MiB, sent and shared. In
turn, medians of rounds.

Usage: benchmark.py [TARGET]     (default localhost:8500; shared memory is measured where the server allows it)

Run it on an idle machine, against a release build. Bare grpcio sends the same message, made once, and looks at nothing of the answer.
"""

import asyncio
import contextlib
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "src"))

import grpc
import numpy as np

import opserve
import opserve.aio
from opserve import _requests

SECONDS, ROUNDS, IN_FLIGHT = 0.5, 9, 16
SMALL = {"self": np.ones(8, np.float32)}
LARGE = {"self": np.ones(4 << 20, np.float32)}
METHOD = _requests.SERVICE + "Execute"


def message(inputs):
    return _requests.execute(opserve.Call("Relu", inputs), lambda array: None).message


def rate(call):
    """Calls a second."""
    calls, start = 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        call()
        calls += 1
    return calls / (time.perf_counter() - start)


def rates(*ways):
    """Of each way to make a call."""
    rounds = [[rate(call) for call in ways] for _ in range(ROUNDS)]
    return [statistics.median(way) for way in zip(*rounds)]


async def rate_side_by_side(call):
    """Calls a second with IN_FLIGHT of them under way."""
    calls, start = 0, time.perf_counter()

    async def work():
        nonlocal calls
        while time.perf_counter() - start < SECONDS:
            await call()
            calls += 1

    await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
    return calls / (time.perf_counter() - start)


async def side_by_side(target):
    """Ours, and bare grpcio's."""
    async with opserve.aio.connect(target, timeout=60) as client, grpc.aio.insecure_channel(target) as channel:
        method, sent = channel.unary_unary(METHOD), message(SMALL)
        ways = (lambda: client.execute("Relu", SMALL)), (lambda: method(sent, timeout=60))
        rounds = [[await rate_side_by_side(call) for call in ways] for _ in range(ROUNDS)]
    return [statistics.median(way) for way in zip(*rounds)]


def row(name, ours, bare, unit):
    print(f"{name:28} opserve {ours:10.4g} {unit}   grpcio {bare:10.4g} {unit}   ratio {ours / bare:.2f}")


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else "localhost:8500"
    unlimited = [("grpc.max_receive_message_length", -1)]
    with opserve.connect(target, timeout=60) as client, grpc.insecure_channel(target, unlimited) as channel, contextlib.ExitStack() as kept:
        method, small, large = channel.unary_unary(METHOD), message(SMALL), message(LARGE)
        row("8 floats, one by one", *rates(lambda: client.execute("Relu", SMALL), lambda: method(small, timeout=60)), "calls/s")
        moved = 2 * LARGE["self"].nbytes / 1e9
        ways = [lambda: client.execute("Relu", LARGE), lambda: method(large, timeout=60)]
        if client.info().shared_memory_socket:
            memory = kept.enter_context(client.shared_memory(2 * LARGE["self"].nbytes))
            inputs, out = {"self": memory.array(4 << 20)}, {"out": memory.array(4 << 20)}
            ways.append(lambda: client.execute("Relu", inputs, out=out))
        ours, bare, *shared = (moved * calls for calls in rates(*ways))
        row("16 MiB each way", ours, bare, "GB/s")
        for each in shared:
            row("16 MiB each way, shared", each, bare, "GB/s")
    row(f"8 floats, {IN_FLIGHT} at a time", *asyncio.run(side_by_side(target)), "calls/s")


if __name__ == "__main__":
    main()
