"""The HTTP port (--http): requests without an end and byte by byte, headers without an end, requests as fast as they
go, answers that nobody takes, bytes that are no request.

A server that gave each connection a thread would answer no probe meanwhile; one without a bound on that work would have a
core less for calls.
"""

import contextlib
import os
import socket
import time
import urllib.parse
import urllib.request

from attack import Attack, Target, run

PROBE_SECONDS = 5.0


def open_http(target: Target, number: int) -> socket.socket:
    """From the attacker's own addresses, to the port that the last line of the port file tells."""
    url = urllib.parse.urlsplit((target.folder / "address").read_text(encoding="utf-8").split()[-1])
    return socket.create_connection((url.hostname, url.port), 0.5, (target.source(number), 0))


def send(target: Target, connected: socket.socket, content: bytes) -> None:
    with contextlib.suppress(OSError):
        connected.sendall(content)
        target.count(len(content))


def request(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def crowd(target: Target) -> None:
    """Hundreds that never send all of a request."""
    kept = []
    for i in range(500):
        with contextlib.suppress(OSError):
            kept.append(open_http(target, i))
            send(target, kept[-1], request("/livez")[: i % 30])
    time.sleep(target.seconds / 4)


def byte_by_byte(target: Target) -> None:
    slow = [open_http(target, 100 + i) for i in range(40)]
    for i in range(60):
        for connected in slow:
            send(target, connected, request("/" + "a" * 100)[i : i + 1])
        time.sleep(0.02)


def endless_headers(target: Target) -> None:
    connected = open_http(target, 1)
    connected.sendall(b"GET /livez HTTP/1.1\r\n")
    while True:
        line = b"X-%d: %s\r\n" % (time.monotonic_ns(), b"x" * 900)
        connected.sendall(line)
        target.count(len(line))


def hurry(target: Target) -> None:
    """As many requests as the server takes, on connections that stay."""
    connections = [open_http(target, i) for i in range(20)]
    row = request("/metrics") + 20 * request("/livez") + request("/?refresh=0") + request("/nothing")
    until = time.monotonic() + target.seconds
    while time.monotonic() < until:
        for connected in connections:
            connected.setblocking(False)
            send(target, connected, row)
            with contextlib.suppress(BlockingIOError):
                connected.recv(1 << 20)


def untaken(target: Target) -> None:
    """Requests whose answers fill every buffer."""
    kept = [open_http(target, i) for i in range(30)]
    for connected in kept:
        connected.settimeout(0.1)
        send(target, connected, 200 * request("/metrics"))
    time.sleep(target.seconds / 2)


def noise(target: Target) -> None:
    for i in range(300):
        with contextlib.suppress(OSError), open_http(target, i) as connected:
            send(target, connected, os.urandom(i) if i % 2 else b"GET " + os.urandom(40) + b"\r\n\r\n")


def probes_answer(target: Target) -> list[str]:
    url = (target.folder / "address").read_text(encoding="utf-8").split()[-1]
    reasons = []
    for path in ("/livez", "/readyz", "/metrics"):
        try:
            with urllib.request.urlopen(url + path, timeout=PROBE_SECONDS) as response:
                response.read()
        except OSError as error:
            reasons.append(f"{path} after the attack: {error}")
    return reasons


if __name__ == "__main__":
    run(
        Attack(
            [crowd, byte_by_byte, endless_headers, hurry, untaken, noise],
            {"--http": "127.0.0.1:0"},
            rss_mib=100,
            check=probes_answer,
        )
    )
