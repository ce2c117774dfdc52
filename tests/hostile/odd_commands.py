"""Sessions of every command with every odd number: ids of 0 and 2^64 - 1, objects of other contexts, commands of no
kind, entries that are not there or that no command names, chunks for calls that are over, executors bound to what is
gone, half-closed in the middle; at random, from a seed.
"""

import random

import http2
import wire
from attack import Attack, Target, run
from sessions import Session

NUMBERS = [0, 1, 2, 3, 4, 64, 1 << 20, 1 << 31, 1 << 32, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
NO_COMMAND = 29
# What each is from an entry of `raw` on, and how many entries it names.
CALLS = [
    (wire.small_gradient, 3),
    (lambda first_raw: wire.l1_loss([1 << 20], 1, first_raw=first_raw), 1),
    (lambda _: wire.call("Hardshrink", [wire.tensor("self", wire.FLOAT32, [4], buffer=1)], lambd=0.5), 0),
    (lambda _: wire.call("Hardshrink", [wire.tensor("self", wire.FLOAT32, [1 << 20], chunked=True)], lambd=0.5), 0),
    (lambda _: wire.call("Nonsense"), 0),
    (lambda _: b"", 0),
    (
        lambda _: wire.call(
            "Hardshrink",
            [wire.tensor("self", wire.FLOAT32, [4], buffer=1)],
            [wire.tensor("out", wire.FLOAT32, [4], buffer=2)],
            lambd=0.5,
        ),
        0,
    ),
]


def body(rng: random.Random, number: int, first_raw: int) -> tuple[bytes, int]:
    """A command's, and how many entries it names, from that one on."""
    pick = lambda: rng.choice(NUMBERS[:5] if rng.random() < 0.7 else NUMBERS)  # noqa: E731
    a_range = wire.buffer_range(pick(), pick(), pick(), pick(), pick())
    if number == wire.UPLOAD:
        return wire.upload(a_range, pick(), first_raw), 1
    if number in (wire.DOWNLOAD, wire.FILL):
        return wire.field(1, a_range) + wire.field(2, pick()) + wire.field(3, pick()), 0
    if number == wire.COPY:
        return wire.field(1, a_range) + wire.field(2, a_range) + wire.field(3, pick()), 0
    if number in (wire.CREATE_EXECUTOR, wire.EXECUTE, wire.EXECUTE_CHUNKED):
        make, named = rng.choice(CALLS)
        the_call = make(first_raw)
        if number == wire.CREATE_EXECUTOR:
            return wire.executor(pick(), pick(), the_call, rng.random() < 0.5), named
        return wire.field(1, the_call) + wire.field(2, rng.choice([0, 1, 2, 77])) + wire.field(3, pick()), named
    if number == wire.SET_TENSORS:
        rebinding = wire.field(1, rng.choice(["self", "out", ""])) + wire.field(2, wire.ids(pick(), pick()))
        return wire.field(1, pick()) + wire.field(2, rebinding), 0
    if number == wire.INPUT_CHUNK:
        return wire.ids(pick(), "self", first_raw), 1
    if number == wire.SYNCHRONIZE:
        return wire.field(rng.choice([1, 2, 3]), pick()), 0
    return wire.ids(pick(), pick(), pick() % (1 << 26)), 0


def message(rng: random.Random, session: Session, count: int) -> bytes:
    """So many commands, with the entries that they name; now and then one entry less, or more."""
    commands, entries = [], []
    for _ in range(count):
        number = NO_COMMAND if rng.random() < 0.005 else rng.randrange(3, NO_COMMAND)
        content, named = body(rng, number, len(entries))
        entries += [rng.choice([b"", bytes(16), bytes(32), bytes(4096)]) for _ in range(named)]
        commands.append(session.command(number, content, quiet=rng.random() < 0.3))
    if rng.random() < 0.005:
        entries = entries[:-1] if rng.random() < 0.8 else [*entries, b"nobody's"]
    return wire.session_request(commands, entries)


def odd(target: Target) -> None:
    seed = random.randrange(1 << 32)
    rng = random.Random(seed)
    target.note(f"seed {seed}")
    while True:
        session = Session(target.connect(target.index)).begin(streams=2)
        session.allocate(1, 1 << 20)
        session.allocate(2, 64)
        for _ in range(40):
            count = rng.randrange(1, 30)
            sizes = [count] if rng.random() < 0.5 else [1] * count
            messages = [message(rng, session, size) for size in sizes]
            if rng.random() < 0.02:
                session._id = (1 << 64) - 2
            try:
                for each in messages:
                    session.connection.message(session.call, each)
                session.drop_answers()
            except http2.Broken:
                break
            if session.call.ended:
                break
        session.end() if rng.random() < 0.5 else None
        session.connection.poll(0.01)
        session.connection.close()


if __name__ == "__main__":
    run(Attack([odd, odd]))
