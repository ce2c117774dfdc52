"""Messages that are small on the wire and large in memory: gzip and deflate, in every kind of call; also compressed
twice, said to be compressed without an encoding, cut off, and with bits that are wrong.

Before: 400 KiB of gzip took 443 MiB at --max-message-bytes 4MiB, as gRPC 1.51 measures messages before it unpacks
them.
"""

import gzip
import zlib

import http2
import wire
from attack import Attack, Target, one_after_the_other, run

UNPACKED = 400 << 20
METHODS = [
    "Execute",
    "ExecuteBatch",
    http2.SESSION,
    "ListOperators",
    "GetServerInfo",
    "GetWorkspaceSize",
    http2.HEALTH_CHECK,
    http2.REFLECTION,
]


def packed(kind: str) -> bytes:
    """An unknown field of zeros, compressed: a sound message, of any type."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31 if kind == "gzip" else 15)
    header = wire.varint(200 << 3 | 2) + wire.varint(UNPACKED)
    out = packer.compress(header)
    zeros = bytes(1 << 20)
    for _ in range(UNPACKED >> 20):
        out += packer.compress(zeros)
    return out + packer.flush()


def bomb(kind: str, twice: bool = False):
    content = packed(kind)
    if twice:
        content = gzip.compress(content)

    def attack(target: Target) -> None:
        for method in METHODS:
            connection = target.connect()
            calls = []
            for _ in range(3):
                call = connection.begin(method, extra=[("grpc-encoding", kind)])
                connection.write(call, http2.framed(content, 1), end=True)
                calls.append(call)
            connection.poll_until(lambda: all(call.ended for call in calls), 1.0)
            connection.close()

    return attack


def wrongly(target: Target) -> None:
    """Compressed without an encoding, an unknown encoding, cut off, corrupt."""
    content = packed_small()
    connection = target.connect(1)
    for extra, message in (
        ([], content),
        ([("grpc-encoding", "nonsense")], content),
        ([("grpc-encoding", "gzip")], content[:-9]),
        ([("grpc-encoding", "gzip")], content[:20] + bytes(40) + content[60:]),
        ([("grpc-encoding", "identity")], content),
    ):
        for method in METHODS:
            call = connection.begin(method, extra=extra)
            connection.write(call, http2.framed(message, 1), end=True)
            connection.await_end(call, 0.5)
            connection.forget(call)


def packed_small() -> bytes:
    return gzip.compress(wire.field(200, bytes(1 << 16)))


if __name__ == "__main__":
    run(
        Attack(
            [one_after_the_other(bomb("gzip"), bomb("deflate"), bomb("gzip", twice=True)), wrongly],
            {"--max-message-bytes": "4MiB"},
        )
    )
