"""Tensors in shared memory that the client rewrites while kernels run: labels of CTC, losses, statistics, everything
at once, with junk and with 2^40; and regions that are released under their calls.
"""

import mmap
import os
import random
import shutil
import socket
import struct
import tempfile
import threading

import http2
import wire
from attack import Attack, Target, run

PATH = os.path.join(tempfile.mkdtemp(), "memory")
SIZE = 1 << 20
STEPS, SAMPLES, CLASSES, LABELS = 100, 4, 20, 30


class Region:
    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.connect(PATH)
        self.socket.send(wire.field(1, wire.field(1, SIZE)))
        answer, fds, _, _ = socket.recv_fds(self.socket, 1 << 16, 1)
        self.id = wire.first(answer, 2, 1)
        self.memory = mmap.mmap(fds[0], SIZE)
        os.close(fds[0])

    def view(self, offset: int, size: int) -> bytes:
        return wire.field(1, self.id) + (wire.field(2, offset) if offset else b"") + wire.field(3, size)


def calls_on(region: Region) -> list[bytes]:
    """Everything looks at the same bytes."""
    width = 2 * LABELS + 1
    one, labels = region.view(0, 8), region.view(0, SAMPLES * LABELS * 8)
    ctc = [
        wire.repeated("grad_out", [SAMPLES], wire.FLOAT64, shared=one),
        wire.repeated("log_probs", [STEPS, SAMPLES, CLASSES], wire.FLOAT64, shared=one),
        wire.tensor("targets", wire.INT64, [SAMPLES, LABELS], shared=labels),
        wire.repeated("neg_log_likelihood", [SAMPLES], wire.FLOAT64, shared=one),
        wire.repeated("log_alpha", [SAMPLES, STEPS, width], wire.FLOAT64, shared=one),
    ]
    lengths = {"input_lengths": [STEPS] * SAMPLES, "target_lengths": [LABELS] * SAMPLES}
    norm = [
        wire.repeated("self", [4, 8, 64], shared=region.view(0, 4)),
        wire.repeated("gamma", [8], shared=region.view(0, 4)),
    ]
    big = region.view(0, 1 << 18)
    return [
        wire.call("CtcLossBackward", ctc, **lengths),
        wire.call("CtcLoss", ctc[1:3], **lengths),
        wire.call("GroupNorm", norm, N=4, C=8, HxW=64, group=2),
        wire.call(
            "Hardshrink",
            [wire.tensor("self", wire.FLOAT32, [1 << 16], shared=big)],
            [wire.tensor("out", wire.FLOAT32, shared=region.view(1 << 19, 1 << 18))],
            lambd=0.5,
        ),
    ]


def scribble(region: Region, over: threading.Event) -> None:
    rng = random.Random(2)
    sound = struct.pack("<q", 3) * 2048
    patterns = [sound, sound, struct.pack("<q", 1 << 40) * 2048, struct.pack("<q", -1) * 2048, rng.randbytes(16384)]
    while not over.is_set():
        region.memory[:16384] = rng.choice(patterns)


def race(target: Target) -> None:
    connection = target.connect(target.index)
    region = Region()
    over = threading.Event()
    threading.Thread(target=scribble, args=(region, over), daemon=True).start()
    try:
        for i in range(200):
            calls = [connection.start("Execute", wire.execute(the_call)) for the_call in calls_on(region)]
            if i % 50 == 49:
                region.socket.close()
            connection.poll_until(lambda: all(call.ended for call in calls), 1.0)
            for call in calls:
                connection.forget(call)
            if i % 50 == 49:
                return
    except http2.Broken:
        pass
    finally:
        over.set()


if __name__ == "__main__":
    try:
        run(Attack([race, race], {"--allow-shared-memory": f"unix:{PATH}", "--shared-memory-limit": "64MiB"}))
    finally:
        shutil.rmtree(os.path.dirname(PATH), ignore_errors=True)
