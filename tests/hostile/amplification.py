"""Questions of no bytes with answers of tens of KiB (ListOperators, GetStatistics, ListDevices), on streams that take
no answer, and on some that take all.
"""

import wire
from attack import Attack, Target, run

METHODS = ["ListOperators", "GetStatistics", "ListDevices", "GetServerInfo"]
ALL_TWICE = b"".join(wire.field(1, name) for name in ("L1Loss", "CtcLossBackward", "GroupNorm", "CtcLossBackward") * 2)


def unread(target: Target) -> None:
    connections = []
    while True:
        connection = target.connect(len(connections) % 4, window=0, refill=False)
        connections.append(connection)
        for i in range(100):
            connection.start(METHODS[i % 2], ALL_TWICE if i % 3 == 0 else b"")
        connection.poll(0.02)
        if len(connections) > 100:
            connections.pop(0).close()


def read(target: Target) -> None:
    connection = target.connect()
    while True:
        calls = [connection.start(METHODS[i % 4], b"") for i in range(32)]
        connection.poll_until(lambda: all(call.ended for call in calls), 2.0)
        connection.calls.clear()


if __name__ == "__main__":
    run(Attack([unread, read, read], rss_mib=500))
