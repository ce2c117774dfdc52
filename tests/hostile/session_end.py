"""Sessions that leave work behind: long calls with their tensors on a stream, executors, copies of many rows of a
byte; then the session is cancelled, or its connection resets.

Before: an ExecuteCommand on a stream did not ask whether its session was over: 30 CPU-s after the end of it.
"""

import time

import wire
from attack import Attack, Target, run
from sessions import CONTEXT, Session


def long_loss() -> bytes:
    """Seconds of computing, in many chunks."""
    return wire.l1_loss([1 << 34], 1)


def leave_inline_calls(target: Target) -> None:
    session = Session(target.connect()).begin(streams=4)
    for stream in range(1, 5):
        session.send(wire.EXECUTE, wire.field(1, long_loss()) + wire.field(3, stream), [wire.floats(1.0)])
    time.sleep(0.1)
    session.connection.vanish()


def leave_executions(target: Target) -> None:
    session = Session(target.connect(1)).begin()
    session.allocate(1, 64)
    inputs = [wire.repeated(name, [1 << 34], buffer=1) for name in ("self", "target")]
    session.send(wire.CREATE_EXECUTOR, wire.executor(1, CONTEXT, wire.call("L1Loss", inputs, reduction=1), True))
    for _ in range(3):
        session.send(wire.RUN_EXECUTOR, wire.ids(1, 1))
    time.sleep(0.1)
    session.connection.reset(session.call)
    session.connection.close()


def leave_copies(target: Target) -> None:
    """64 MiB in rows of a byte, again and again."""
    session = Session(target.connect(2)).begin()
    rows = 32 << 20
    session.allocate(1, rows * 2)
    session.allocate(2, rows * 2)
    source, destination = (wire.buffer_range(buffer, 0, 1, rows, 2) for buffer in (1, 2))
    body = wire.field(1, source) + wire.field(2, destination) + wire.field(3, 1)
    for _ in range(20):
        session.send(wire.COPY, body)
    time.sleep(0.1)
    session.end()
    session.connection.vanish()


if __name__ == "__main__":
    run(Attack([leave_inline_calls, leave_executions, leave_copies]))
