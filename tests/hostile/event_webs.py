"""Streams that wait for each other in chains and webs: sixteen thousand events and gates behind one long command,
recorded again and again, which all fall at once; then the context goes under them.
"""

import wire
from attack import Attack, Target, run
from sessions import CONTEXT, Session

STREAMS = 2000
LONG = wire.field(1, wire.l1_loss([1 << 29], 1)) + wire.field(3, 1)


def chain(target: Target) -> None:
    """Stream after stream, each waits for the event of the one before."""
    session = Session(target.connect()).begin(streams=STREAMS)
    session.send_group(
        [session.command(wire.CREATE_EVENT, wire.ids(i, CONTEXT), quiet=True) for i in range(1, STREAMS)]
    )
    session.send(wire.EXECUTE, LONG, [wire.floats(1.0)])
    commands = []
    for i in range(1, STREAMS):
        commands.append(session.command(wire.RECORD_EVENT, wire.ids(i, i)))
        commands.append(session.command(wire.WAIT_EVENT, wire.ids(i, i + 1)))
    last = session.send_group(commands)
    session.await_answers(last, 1.0)
    session.send_group([session.command(wire.DESTROY_CONTEXT, wire.ids(CONTEXT))])
    session.await_answers(session._id, 5)


def web(target: Target) -> None:
    """One event for which everything waits, recorded anew all the time."""
    session = Session(target.connect(1)).begin(streams=200)
    session.send(wire.CREATE_EVENT, wire.ids(1, CONTEXT))
    session.send(wire.EXECUTE, LONG, [wire.floats(1.0)])
    commands = []
    for i in range(4000):
        commands.append(session.command(wire.RECORD_EVENT, wire.ids(1, 1 + i % 7)))
        commands.append(session.command(wire.WAIT_EVENT, wire.ids(1, 1 + i % 200)))
        commands.append(session.command(wire.SYNCHRONIZE, wire.field(2, 1)))
    session.await_answers(session.send_group(commands), 5)
    session.end()
    session.connection.await_end(session.call, 5)


if __name__ == "__main__":
    run(Attack([chain, web]))
