"""A program for the C interface on the devices of a server that means harm: it ends in time, with an error that it tells.

The program is the sample of L1LossBackward, on four elements. Another one has its downloads late.
"""

import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "support"), str(HERE.parents[1] / "client/hostile")]

import hostile_attacks as does
import programs_test
from hostile_server import hostile_server
from hostile_wire import (ALLOCATE, CREATE_EXECUTOR, DOWNLOAD, EVENT, MEMORY, PLAN, QUERY_EVENT, QUERY_MEMORY, QUERY_STREAM,
                          STREAM, SYNCHRONIZE, answer, chunk_answer, error, error_info, field, floats, honestly, session,
                          session_info, tensor)

MOST_SECONDS = 30
GRADIENT = floats(-0.25, 0, 0.25, 0.25)
ESCAPES = "\x1b[2J\n"


def serve(command, kind):
    """The gradient of the sample."""
    if kind == CREATE_EXECUTOR:
        yield answer(command, field(PLAN, field(1, 64) + field(2, tensor(shape=(4,)))))
    elif kind == DOWNLOAD:
        yield chunk_answer(command, 0, GRADIENT, "", last=True)
    else:
        yield from honestly(command, kind)


def wrong(kind, *replies):
    """Answers commands of one kind so."""

    def react(command, came):
        if came == kind:
            yield from (reply(command) for reply in replies)
        else:
            yield from serve(command, came)

    return does.answering(Session=lambda call: session(call, react))


def plan(*more):
    return wrong(CREATE_EXECUTOR, lambda command: answer(command, field(PLAN, b"".join(more))))


ATTACKS = {
    "hangs up": does.hangs_up,
    "GOAWAY": does.goes_away_at_once,
    "no devices": does.answering(ListDevices=b""),
    "many devices": does.answering(ListDevices=field(1, b"") * 2000),
    "2 MiB of devices": does.answering(ListDevices=field(1, b"") * (1 << 20)),
    "a status of escapes": does.status("3", "%1b[2J%0a"),
    "no session": does.answering(Session=lambda call: call.fail(12, "none")),
    "bad limits": does.answering(Session=lambda call: session(call, serve, session_info(chunk=1))),
    "no memory": wrong(ALLOCATE, lambda command: answer(command, field(3, error(8, ESCAPES, error_info(want=ESCAPES))))),
    "another answer": wrong(ALLOCATE, lambda command: answer(command, field(7, field(1, 1)))),
    "two answers": wrong(ALLOCATE, lambda command: answer(command, last=False)),
    "an answer to nothing": wrong(ALLOCATE, lambda command: answer(command + 1000)),
    "a plan of another shape": plan(field(2, tensor(shape=(1 << 40,)))),
    "a plan of another output": plan(field(2, tensor("other", shape=(4,)))),
    "a plan of nothing": plan(),
    "a negative workspace": plan(field(1, -64), field(2, tensor(shape=(4,)))),
    "a workspace of 2^62 bytes": plan(field(1, 1 << 62), field(2, tensor(shape=(4,)))),
    "a synchronization of nothing": wrong(SYNCHRONIZE, lambda command: answer(command, field(3, error()), field(4, 1 << 60))),
    "more than was asked for": wrong(DOWNLOAD, lambda command: chunk_answer(command, 0, GRADIENT * 2, "", last=True)),
    "less than was asked for": wrong(DOWNLOAD, lambda command: chunk_answer(command, 0, GRADIENT[:-1], "", last=True)),
    "other bytes": wrong(DOWNLOAD, lambda command: chunk_answer(command, 1 << 40, GRADIENT, "", last=True)),
}


def run(binary, builder, attack):
    """The program's end, and how long it took."""
    with hostile_server(attack) as target:
        start = time.monotonic()
        env = {**builder.env, "OPSERVE_TARGET": target, "GRPC_VERBOSITY": "NONE"}
        result = subprocess.run([binary], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, errors="replace", timeout=240, check=False)
        return result, time.monotonic() - start


class Late:
    """Says that all has ended, and sends what is downloaded only when it is asked for its memory."""

    def __init__(self):
        self.downloads = []

    def react(self, command, kind):
        if kind == DOWNLOAD:
            self.downloads.append(command)
        elif kind == QUERY_EVENT:
            yield answer(command, field(EVENT, field(1, 1)))
        elif kind == QUERY_STREAM:
            yield answer(command, field(STREAM, field(1, 1)))
        elif kind == QUERY_MEMORY:
            yield from (chunk_answer(download, 0, b"download", "", last=True) for download in self.downloads)
            self.downloads = []
            yield answer(command, field(MEMORY, b""))
        else:
            yield from honestly(command, kind)


def check_late_downloads(builder):
    """Memory that a download writes is the program's until the download has ended, whatever the server says."""
    binary = builder.program(HERE / "late_program.cc")
    result, _ = run(binary, builder, does.answering(Session=lambda call: session(call, Late().react)))
    if result.returncode != 0:
        sys.exit(f"late downloads: {result.returncode}, {result.stderr}")


def main():
    builder = programs_test.Builder("remote_hostile")
    binary = builder.program(programs_test.SAMPLES / "l1_loss_backward.c", *programs_test.STRICT)
    sound, _ = run(binary, builder, does.answering(Session=lambda call: session(call, serve)))
    if sound.returncode != 0:
        sys.exit(f"a sound server: {sound.returncode}, {sound.stderr!r}")
    check_late_downloads(builder)
    wrongs = []
    for name, attack in ATTACKS.items():
        result, seconds = run(binary, builder, attack)
        told = result.stderr.count("\n") == 1 and result.stderr.rstrip("\n").isprintable()
        if result.returncode != 1 or not told or seconds > MOST_SECONDS:
            wrongs.append(f"{name}: status {result.returncode} after {seconds:.1f} s, {result.stderr[-400:]!r}")
    print(*wrongs, f"{len(ATTACKS)} attacks, {len(wrongs)} of them with success", sep="\n")
    sys.exit(1 if wrongs else 0)


if __name__ == "__main__":
    main()
