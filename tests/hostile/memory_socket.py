"""The socket of shared memory: packets of junk, half packets, descriptors that are passed in, regions that are made
and dropped, more connections than it takes, and one that does not read.

Attacker: a process that may open the socket's file. A descriptor that is passed in must not stay; connections that
idle must not keep others out for ever.
"""

import array
import contextlib
import os
import random
import shutil
import socket
import tempfile

import wire
from attack import Attack, Target, one_after_the_other, run

PATH = os.path.join(tempfile.mkdtemp(), "memory")


def connect(seconds: float = 0.5) -> socket.socket:
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connected.settimeout(seconds)
    connected.connect(PATH)
    return connected


def allocate(size: int) -> bytes:
    return wire.field(1, wire.field(1, size))


def junk(target: Target) -> None:
    rng = random.Random(1)
    for _ in range(500):
        with contextlib.suppress(OSError), connect() as connected:
            packet = rng.choice(
                [
                    b"",
                    rng.randbytes(rng.choice([1, 10, 4096, 4097, 60_000])),
                    allocate(-1),
                    allocate(1 << 62),
                    allocate((1 << 63) - 1),
                    wire.field(2, wire.field(1, rng.randbytes(16))),
                    allocate(4096)[:-1],
                ]
            )
            connected.send(packet)
            target.count(len(packet))
            connected.recv(1 << 16)


def pass_descriptors(target: Target) -> None:
    """As many at a time as the system allows."""
    fds = [os.open("/dev/null", os.O_RDONLY) for _ in range(250)]
    connected = connect()
    for _ in range(500):
        connected.sendmsg([allocate(4096)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
        target.count(1)
        connected.recv(1 << 16)  # the descriptor that comes is dropped


def churn(target: Target) -> None:
    connected = connect()
    for _ in range(1000):
        connected.send(allocate(1 << 20))
        answer = connected.recv(1 << 16)
        region = wire.first(answer, 2, 1)
        if region is not None:
            connected.send(wire.field(2, wire.field(1, region)))
            connected.recv(1 << 16)
        target.count(10)


def crowd(target: Target) -> None:
    """All the connections and all the regions that there are."""
    connections = []
    with contextlib.suppress(OSError):
        for _ in range(300):
            connections.append(connect())
    for connected in connections:
        with contextlib.suppress(OSError):
            for _ in range(5):
                connected.send(allocate(1 << 16))
                target.count(8)


def deaf(target: Target) -> None:
    connected = connect()
    connected.setblocking(False)
    for _ in range(100_000):
        try:
            connected.send(allocate(1))
            target.count(8)
        except BlockingIOError:
            continue
        except OSError:
            return


if __name__ == "__main__":
    try:
        run(
            Attack(
                [one_after_the_other(junk, pass_descriptors, churn), one_after_the_other(crowd, deaf)],
                {"--allow-shared-memory": f"unix:{PATH}", "--shared-memory-limit": "64MiB"},
            )
        )
    finally:
        shutil.rmtree(os.path.dirname(PATH), ignore_errors=True)
