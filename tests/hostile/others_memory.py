"""Looks for what other clients left: one client sends a secret in every way there is, another allocates, makes
outputs and reads.

Cost: a session. Before: Allocate and Download gave other clients' uploads and answers back, byte by byte.
"""

import wire
from attack import Attack, Target, run
from sessions import CONTEXT, Session, bytes_of

SECRET = bytes.fromhex("5ec2e75ec2e75ec2e7f00dfaceb00c42")  # as floats: odd numbers, but numbers
SIZES = [64, 512, 4096, 16 << 10, 100_000, 1 << 20, 3 << 20]


def secret(size: int) -> bytes:
    return (SECRET * (size // len(SECRET) + 1))[:size]


def shrink(size: int, threshold: float = 0.0) -> tuple[bytes, list[bytes]]:
    """A Hardshrink that passes everything: its output is the secret, too."""
    return wire.call("Hardshrink", [wire.tensor("self", wire.FLOAT32, [size // 4], raw=0)], lambd=threshold), [
        secret(size)
    ]


def leave_secrets(target: Target) -> None:
    """What an innocent client does: calls, batches, a session with uploads, executors and downloads, that it ends."""
    connection = target.connect(source=40)
    for size in SIZES:
        the_call, raw = shrink(size)
        connection.unary("Execute", wire.execute(the_call, raw))
        connection.unary("ExecuteBatch", wire.batch([the_call] * 3, raw))
        # One that fails on the way, and one whose answer is never taken.
        connection.unary("Execute", wire.execute(the_call, raw + [secret(16)]))
    session = Session(connection).begin()
    for i, size in enumerate(SIZES):
        session.allocate(2 * i + 1, size)
        session.allocate(2 * i + 2, size)
        session.upload(2 * i + 1, secret(size))
        the_call = wire.call(
            "Hardshrink", [wire.tensor("self", wire.FLOAT32, [size // 4], buffer=2 * i + 1)], lambd=0.0
        ) + wire.field(4, wire.tensor("out", wire.FLOAT32, [size // 4], buffer=2 * i + 2))
        session.send(wire.CREATE_EXECUTOR, wire.executor(i + 1, CONTEXT, the_call))
        session.send(wire.RUN_EXECUTOR, wire.ids(i + 1, 1))
        session.download(2 * i + 2, size)
        session.send(wire.EXECUTE, wire.field(1, shrink(size)[0]), shrink(size)[1])
    session.await_answers(session.send(wire.SYNCHRONIZE, wire.field(3, CONTEXT)))
    session.end()
    connection.await_end(session.call, 5)
    connection.close()


def found_in(content: bytes) -> int:
    """How many bytes of the secret."""
    return content.count(SECRET) * len(SECRET)


def look_in_buffers(target: Target) -> int:
    session = Session(target.connect()).begin()
    found = 0
    for i, size in enumerate(SIZES * 2):
        session.allocate(i + 1, size)
        found += found_in(bytes_of(session.await_answers(last := session.download(i + 1, size)), last))
    return found


def look_in_gaps(target: Target) -> int:
    """Outputs with strides leave gaps in their buffer; a group norm without elements leaves outputs alone; workspaces
    stay.
    """
    session = Session(target.connect()).begin()
    found = 0
    for i, size in enumerate(SIZES):
        buffer, count = i + 1, size // 16
        session.allocate(buffer, size)
        session.allocate(buffer + 100, 64)
        the_call = wire.call(
            "Hardshrink", [wire.repeated("self", [count], buffer=buffer + 100)], lambd=0.0
        ) + wire.field(4, wire.tensor("out", wire.FLOAT32, [count], [4], buffer=buffer))
        session.send(wire.CREATE_EXECUTOR, wire.executor(i + 1, CONTEXT, the_call))
        session.send(wire.RUN_EXECUTOR, wire.ids(i + 1, 1))
        found += found_in(bytes_of(session.await_answers(last := session.download(buffer, size)), last))
    return found


def look_in_answers(target: Target) -> int:
    """Of one-shot calls whose outputs a kernel may leave alone, and of errors."""
    connection = target.connect()
    found = 0
    empty = [wire.tensor(name, wire.FLOAT32, [0], raw=0) for name in ("grad_out", "input")]
    statistics = [wire.tensor(name, wire.FLOAT32, [0], raw=0) for name in ("mean", "rstd")]
    requests = [wire.execute(wire.call("GroupNormBackward", empty + statistics, N=0, C=1 << 12, HxW=8, group=1), [b""])]
    for size in SIZES:
        requests.append(
            wire.execute(
                wire.call(
                    "CtcLoss",
                    [
                        wire.repeated("log_probs", [size // 64, 1, 2], raw=0),
                        wire.tensor("targets", wire.INT64, [1, 0], raw=1),
                    ],
                    input_lengths=[0],
                    target_lengths=[0],
                ),
                [wire.floats(0.0), b""],
            )
        )
        requests.append(
            wire.execute(
                wire.call("Hardshrink", [wire.tensor("self", wire.FLOAT32, [size], raw=0)], lambd=0.0), [bytes(8)]
            )
        )
    for request in requests:
        answer = connection.unary("Execute", request)
        found += found_in(b"".join(answer.messages) + answer.text.encode())
    return found


def prepare(target: Target) -> list[str]:
    reasons = []
    for what, look in (("buffers", look_in_buffers), ("outputs' gaps", look_in_gaps), ("answers", look_in_answers)):
        leave_secrets(target)
        if found := look(target):
            reasons.append(f"{found} bytes of another client's in {what}")
    return reasons


def attack(target: Target) -> None:
    """Both at the same time."""
    if target.index == 0:
        leave_secrets(target)
        return
    if found := look_in_buffers(target) + look_in_gaps(target) + look_in_answers(target):
        target.blame(f"{found} bytes of another client's while it was there")


if __name__ == "__main__":
    run(Attack([attack, attack], prepare=prepare))
