"""Clients on a unix socket, who all have the same address: hundreds of connections, rapid resets, calls that hold
memory. Bounds for each peer must neither let them all through nor make them share one part.

Before: streams that were reset were counted on TCP alone, and took 3 GiB within 17 seconds.
"""

import os
import shutil
import struct
import tempfile
import time

import http2
import wire
from attack import Attack, Target, run

PATH = os.path.join(tempfile.mkdtemp(), "server")
ADDRESS = f"unix:{PATH}"
LARGE = wire.execute(wire.l1_loss([1 << 20], 0), [wire.floats(1.0)])


def crowd(target: Target) -> None:
    connections = [http2.Connection(ADDRESS, window=0, refill=False, sent=target.count) for _ in range(300)]
    for connection in connections:
        for _ in range(4):
            connection.start("Execute", LARGE)
        connection.poll(0)
    time.sleep(target.seconds)


def resets(target: Target) -> None:
    connection = http2.Connection(ADDRESS, sent=target.count)
    block, cancel = http2.request_headers(http2.SESSION), struct.pack(">I", http2.CANCEL)
    while True:
        out = b""
        for _ in range(50):
            stream = connection.next_stream()
            out += http2.frame(http2.HEADERS, http2.END_HEADERS, stream, block) + http2.frame(
                http2.RST_STREAM, 0, stream, cancel
            )
        connection.send(out)
        connection.poll(0)


if __name__ == "__main__":
    try:
        run(Attack([crowd, resets], {"--listen": ADDRESS}, rss_mib=600))
    finally:
        shutil.rmtree(os.path.dirname(PATH), ignore_errors=True)
