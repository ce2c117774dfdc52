"""Connections that never become clients: without a preface, with one that comes byte by byte, with settings that
never end, with other protocols; and hundreds a second that come and go.

Before: each stays for gRPC's two minutes; nothing bounds how many there are.
"""

import contextlib
import socket
import time

import http2
from attack import Attack, Target, run

TLS_HELLO = bytes.fromhex("16030100a5010000a10303") + bytes(156)
GREETINGS = [
    b"",
    b"P",
    http2.PREFACE[:-1],
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    TLS_HELLO,
    b"\0" * 1000,
    http2.PREFACE + b"\0\x40\0\x04\0\0\0\0\0",
    http2.PREFACE + http2.frame(http2.PING, 0, 0, bytes(8)),
]


def crowd(target: Target) -> None:
    """Thousands, from many addresses."""
    kept: list[socket.socket] = []
    for i in range(3000):
        with contextlib.suppress(http2.Broken, OSError):
            connected = http2.open_socket(target.address, target.source(i), 0.5)
            greeting = GREETINGS[i % len(GREETINGS)]
            connected.sendall(greeting)
            target.count(len(greeting))
            kept.append(connected)
        if i % 100 == 0:
            time.sleep(0.01)
    time.sleep(target.seconds)


def byte_by_byte(target: Target) -> None:
    content = (
        http2.PREFACE
        + http2.settings()
        + http2.frame(http2.HEADERS, http2.END_HEADERS, 1, http2.request_headers("Execute"))
    )
    slow = [http2.open_socket(target.address, target.source(200 + i), 0.5) for i in range(30)]
    for i in range(len(content)):
        for connected in slow:
            with contextlib.suppress(OSError):
                connected.send(content[i : i + 1])
        target.count(len(slow))
        time.sleep(0.02)


def churn(target: Target) -> None:
    for i in range(200):
        connection = target.connect(i, timeout=0.5)
        connection.vanish() if i % 2 else connection.close()


if __name__ == "__main__":
    # From so many addresses, all places may be taken at times.
    run(
        Attack(
            [crowd, byte_by_byte, churn],
            {"--max-connections": "1000", "--max-connections-per-peer": "100"},
            spares=["newcomers"],
        )
    )
