"""Sessions with as many objects as they may have, and commands that look through all of them: a stream that is
destroyed, or executed on, is sought in its context's list; a context that goes is sought in every table.

Cost: 1 MiB for the objects, then 10 to 26 bytes a look. Found: 440 us of a network thread for a context that is made
and destroyed, 25 ms for a Synchronize of a context; three such sessions stop everybody.
"""

import wire
from attack import Attack, Target, run
from sessions import CONTEXT, Session, full_message

OBJECTS = range(10, 60_000)


def filling(number: int) -> bytes:
    """Commands that make as many as there may be."""
    return wire.session_request(wire.command(number, wire.ids(i, CONTEXT), 1000 + i, quiet=True) for i in OBJECTS)


def look_through(made: int, *commands: tuple[int, bytes], bytes_of_message: int = 200_000):
    objects, message = filling(made), full_message(*commands, most_bytes=bytes_of_message)

    def attack(target: Target) -> None:
        session = Session(target.connect(target.index)).begin()
        session.connection.message(session.call, objects)
        session.connection.message(session.call, message)
        session.connection.poll_until(lambda: session.call.ended, target.seconds)

    return attack


if __name__ == "__main__":
    context, stream = wire.ids(2), wire.ids(5, CONTEXT)
    run(
        Attack(
            [
                look_through(wire.CREATE_EVENT, (wire.CREATE_CONTEXT, context), (wire.DESTROY_CONTEXT, context)),
                look_through(wire.CREATE_STREAM, (wire.CREATE_STREAM, stream), (wire.DESTROY_STREAM, wire.ids(5))),
                look_through(wire.CREATE_STREAM, (wire.SYNCHRONIZE, wire.field(3, CONTEXT)), bytes_of_message=20_000),
            ]
        )
    )
