"""Sessions full of things that no budget of memory counts: executors planned from long lists of attributes, rebound
tensors, contexts with streams and events, calls in chunks that never get their chunks.

Cost: some 600 bytes an executor. Before: 38 MiB sent held 361 MiB, 65,536 of them a session, 1024 sessions.
"""

import wire
from attack import Attack, Target, run
from sessions import CONTEXT, Session

SAMPLES = 2000


def long_lists() -> bytes:
    """A plan of two lists of 2000 numbers: 4 KiB that take 32 KiB."""
    return wire.call(
        "CtcLoss",
        [
            wire.repeated("log_probs", [1, SAMPLES, 2], buffer=1),
            wire.repeated("targets", [SAMPLES, 0], wire.INT64, buffer=1),
        ],
        input_lengths=[0] * SAMPLES,
        target_lengths=[0] * SAMPLES,
    )


def small() -> bytes:
    return wire.call("Hardshrink", [wire.repeated("self", [1] * 8, buffer=1)], lambd=0.5)


def hoard(the_call: bytes, of_group: int):
    def attack(target: Target) -> None:
        session = Session(target.connect(target.index)).begin()
        session.allocate(1, 64)
        for first in range(1, 65000, of_group):
            session.send_group(
                [
                    session.command(wire.CREATE_EXECUTOR, wire.executor(first + i, CONTEXT, the_call, True))
                    for i in range(of_group)
                ]
            )
            session.drop_answers()
        session.connection.poll_until(lambda: session.call.ended, target.seconds)

    return attack


def objects(target: Target) -> None:
    session = Session(target.connect(target.index)).begin()
    for first in range(2, 65000, 1000):
        session.send_group(
            [
                session.command(
                    (wire.CREATE_STREAM, wire.CREATE_EVENT, wire.ALLOCATE)[i % 3],
                    wire.ids(first + i, CONTEXT),
                    quiet=True,
                )
                for i in range(1000)
            ]
        )
    session.connection.poll_until(lambda: session.call.ended, target.seconds)


if __name__ == "__main__":
    run(Attack([hoard(long_lists(), 50), hoard(small(), 500), objects], rss_mib=300))
