"""Ranges of buffers as no client has them: 2^62 rows of nothing, rows of one byte, strides that overflow, patterns that
do not fit; and copies of 64 MiB row by row, by the hundred, in a session that nobody admits.
"""

import itertools

import wire
from attack import Attack, Target, run
from sessions import Session

NUMBERS = [
    0,
    1,
    2,
    7,
    64,
    1 << 20,
    (1 << 31) - 1,
    1 << 32,
    (1 << 62) - 1,
    1 << 62,
    (1 << 63) - 1,
    (1 << 64) - 1,
    1 << 63,
]
ROWS = 32 << 20


def every_kind(target: Target) -> None:
    session = Session(target.connect()).begin()
    session.allocate(1, 1 << 20)
    session.allocate(2, 1 << 20)
    numbers = itertools.product([0, 1, 1 << 62], NUMBERS, NUMBERS, NUMBERS[::2])
    ranges = [wire.buffer_range(1, *each) for each in numbers]
    destination = wire.field(2, wire.buffer_range(2, 0, 1, 1 << 20, 1))
    for i in range(0, len(ranges), 100):
        commands, entries = [], []
        for each in ranges[i : i + 100]:
            a_range = wire.field(1, each)
            commands.append(session.command(wire.FILL, a_range + wire.field(2, b"1234") + wire.field(3, 1)))
            commands.append(session.command(wire.DOWNLOAD, a_range + wire.field(2, 1)))
            commands.append(session.command(wire.UPLOAD, wire.upload(each, 1, len(entries))))
            commands.append(session.command(wire.COPY, a_range + destination + wire.field(3, 1)))
            commands.append(session.command(wire.SYNCHRONIZE, wire.field(1, 1)))
            entries.append(b"12345678")
        session.await_answers(session.send_group(commands, entries), 2)
        session.drop_answers()


def row_by_row(target: Target) -> None:
    session = Session(target.connect(1)).begin(streams=4)
    session.allocate(1, ROWS * 2)
    session.allocate(2, ROWS * 2)
    copy = wire.field(1, wire.buffer_range(1, 0, 1, ROWS, 2)) + wire.field(2, wire.buffer_range(2, 1, 1, ROWS, 2))
    fill = wire.field(1, wire.buffer_range(1, 0, 1, ROWS, 2)) + wire.field(2, b"x")
    for i in range(200):
        session.send(wire.COPY if i % 2 else wire.FILL, (copy if i % 2 else fill) + wire.field(3, 1 + i % 4))
    session.connection.poll_until(lambda: session.call.ended, target.seconds)


if __name__ == "__main__":
    run(Attack([every_kind, row_by_row]))
