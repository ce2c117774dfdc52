"""Batches of 4096 tiny calls, always some of them waiting: their turns go before every larger call's, and the worker
that would begin one finds another turn first.

Cost: 200 KiB a batch. Found: other people's medium calls do not begin as long as it lasts.
"""

import wire
from attack import Attack, Target, run

RAW = [wire.floats(*[value] * 8) for value in (1.0, 2.0, 3.0)]
BATCH = wire.batch([wire.small_gradient()] * 4096, RAW)
# Just above what a network thread runs itself.
ALMOST_TINY = wire.execute(wire.l1_loss([150_000], 1), [wire.floats(1.0)])


def flood(method: str, message: bytes, ahead: int):
    def attack(target: Target) -> None:
        connection = target.connect(target.index)
        calls = [connection.start(method, message) for _ in range(ahead)]
        while True:
            connection.poll(1.0)
            for i, call in enumerate(calls):
                if call.ended:
                    connection.forget(call)
                    calls[i] = connection.start(method, message)

    return attack


if __name__ == "__main__":
    run(Attack([flood("ExecuteBatch", BATCH, 16), flood("Execute", ALMOST_TINY, 64)]))
