"""Many calls on many connections, each with a message that never ends: all but its last byte is there, or it trickles.

Before: requests up to --max-message-bytes lie in gRPC's buffers, 128 a connection, with no bound on connections.
"""

import struct
import time

import http2
from attack import Attack, Target, run

MESSAGE_BYTES = 16 << 20


def nearly_whole(target: Target) -> None:
    """16 calls a connection, of nearly 16 MiB each."""
    connections = []
    while True:
        connection = target.connect(len(connections))
        connections.append(connection)
        for method in ("Execute", "ExecuteBatch", "ListOperators", http2.SESSION) * 4:
            call = connection.begin(method)
            connection.write(call, struct.pack(">BI", 0, MESSAGE_BYTES) + bytes(MESSAGE_BYTES - 1))
        if len(connections) == 16:
            time.sleep(target.seconds)


def trickle(target: Target) -> None:
    """Thousands of calls, a byte each now and then."""
    connections = [target.connect(100 + i) for i in range(30)]
    calls = [(connection, connection.begin("Execute")) for connection in connections for _ in range(100)]
    for connection, call in calls:
        connection.write(call, struct.pack(">BI", 0, MESSAGE_BYTES))
    while True:
        for connection, call in calls:
            connection.write(call, b"\0")
        time.sleep(0.3)


if __name__ == "__main__":
    # What comes within a tenth of a second is on top.
    run(Attack([nearly_whole, trickle], {"--process-memory-limit": "512MiB"}, rss_mib=650))
