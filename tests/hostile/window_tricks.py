"""Windows as no client has them: updates of nothing, updates beyond 2^31, settings that make windows negative and
whole again, more streams than allowed, data beyond a window, ids of streams that go down or are even.
"""

import struct

import http2
import wire
from attack import Attack, Target, one_after_the_other, run
from http2 import END_HEADERS, END_STREAM, frame

LARGE = wire.execute(wire.l1_loss([1 << 20], 0), [wire.floats(1.0)])


def overflow(target: Target) -> None:
    for stream in (0, 1):
        connection = target.connect()
        connection.begin("Execute")
        connection.send(frame(http2.WINDOW_UPDATE, 0, stream, struct.pack(">I", (1 << 31) - 1)) * 3)
        connection.poll(0.1)
        connection.close()


def nothing(target: Target) -> None:
    for stream in (0, 1):
        connection = target.connect()
        connection.begin("Execute")
        connection.send(frame(http2.WINDOW_UPDATE, 0, stream, bytes(4)) * 50)
        connection.poll(0.1)
        connection.close()


def negative(target: Target) -> None:
    connection = target.connect(refill=False)
    for _ in range(20):
        connection.start("Execute", LARGE)
    for i in range(2000):
        connection.send(http2.settings(initial_window_size=(0, 1 << 20, 1, (1 << 31) - 1)[i % 4]))
        connection.poll(0)
    connection.close()


def more_streams(target: Target) -> None:
    """Ten times as many as SETTINGS_MAX_CONCURRENT_STREAMS allows."""
    connection = target.connect(window=0, refill=False)
    for _ in range(1300):
        connection.start("Execute", LARGE)
    connection.poll(0.5)
    connection.close()


def beyond_the_window(target: Target) -> None:
    connection = target.connect()
    call = connection.begin("Execute")
    content = struct.pack(">BI", 0, 15 << 20) + bytes(16000)
    for _ in range(2000):
        connection.send(frame(http2.DATA, 0, call.stream, content))
    connection.close()


def odd_ids(target: Target) -> None:
    headers = http2.request_headers("GetServerInfo")
    for streams in ([2], [0], [5, 3, 1], [(1 << 31) - 1, 1], [1, 1, 1]):
        connection = target.connect()
        for stream in streams:
            connection.send(frame(http2.HEADERS, END_HEADERS | END_STREAM, stream, headers))
            connection.send(frame(http2.DATA, END_STREAM, stream, http2.framed(b"")))
        connection.poll(0.05)
        connection.close()


if __name__ == "__main__":
    tricks = (overflow, nothing, negative, more_streams, beyond_the_window, odd_ids)
    run(Attack([one_after_the_other(*tricks), one_after_the_other(*reversed(tricks))], rss_mib=500))
