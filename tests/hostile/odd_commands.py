"""Sessions of every command with every odd number: ids of 0 and 2^64 - 1, objects of other contexts, commands within
commands, chunks for calls that are over, executors bound to what is gone, half-closed in the middle; at random, from
a seed.
"""

import random

import http2
import wire
from attack import Attack, Target, run
from sessions import Session

NUMBERS = [0, 1, 2, 3, 4, 64, 1 << 20, 1 << 31, 1 << 32, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
CALLS = [
    wire.small_gradient(),
    wire.l1_loss([1 << 20], 1),
    wire.call("Hardshrink", [wire.tensor("self", wire.FLOAT32, [4], buffer=1)], lambd=0.5),
    wire.call("Hardshrink", [wire.tensor("self", wire.FLOAT32, [1 << 20], chunked=True)], lambd=0.5),
    wire.call("Nonsense"),
    b"",
    wire.call(
        "Hardshrink",
        [wire.tensor("self", wire.FLOAT32, [4], buffer=1)],
        [wire.tensor("out", wire.FLOAT32, [4], buffer=2)],
        lambd=0.5,
    ),
]


def body(rng: random.Random, number: int) -> bytes:
    pick = lambda: rng.choice(NUMBERS[:5] if rng.random() < 0.7 else NUMBERS)  # noqa: E731
    region = wire.region(pick(), pick(), pick(), pick(), pick())
    if number in (wire.UPLOAD, wire.DOWNLOAD, wire.FILL, wire.COPY):
        return (
            wire.field(1, region)
            + (wire.field(2, pick()) if number != wire.COPY else wire.field(2, region))
            + wire.field(3, pick())
        )
    if number == wire.GET_WORKSPACE_SIZE:
        return wire.executor(pick(), pick(), rng.choice(CALLS), rng.random() < 0.5)
    if number in (wire.INLINE_EXECUTE, wire.CHUNKED_EXECUTE):
        return wire.field(1, rng.choice(CALLS)) + wire.field(2, rng.choice([0, 1, 2, 77])) + wire.field(3, pick())
    if number == wire.SET_TENSORS:
        return wire.field(1, pick()) + wire.field(
            2, wire.field(1, rng.choice(["self", "out", ""])) + wire.field(2, wire.ids(pick(), pick()))
        )
    if number == wire.INPUT_CHUNK:
        return wire.ids(pick(), "self")
    if number == wire.SYNCHRONIZE:
        return wire.field(rng.choice([1, 2, 3]), pick())
    return wire.ids(pick(), pick(), pick() % (1 << 26))


def odd(target: Target) -> None:
    seed = random.randrange(1 << 32)
    rng = random.Random(seed)
    target.note(f"seed {seed}")
    while True:
        session = Session(target.connect(target.index)).begin(streams=2)
        session.allocate(1, 1 << 20)
        session.allocate(2, 64)
        for _ in range(40):
            commands = []
            for _ in range(rng.randrange(1, 30)):
                number = rng.randrange(3, 30)
                raw = [rng.choice([b"", bytes(16), bytes(32), bytes(4096)]) for _ in range(rng.choice([0, 1, 1, 3, 3]))]
                commands.append(session.command(number, body(rng, number), raw, quiet=rng.random() < 0.3))
            if rng.random() < 0.02:
                session._id = (1 << 64) - 2
            try:
                if rng.random() < 0.5:
                    session.send_group(commands)
                else:
                    for each in commands:
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
