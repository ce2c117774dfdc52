"""More connections than the process may have descriptors (a limit of 64), most of them idle, from many addresses.

Before: accept() failed once for want of a descriptor, and gRPC 1.51 never accepted again: the server lived, reported
nothing, and no client reached it any more.
"""

import resource
import time

import http2
from attack import Attack, Target, run


def crowd(target: Target) -> None:
    connections = []
    for i in range(120):
        try:
            connections.append(target.connect(i, timeout=0.2))
        except http2.Broken:
            time.sleep(0.01)
    time.sleep(0.5)
    for connection in connections:
        connection.close()
    time.sleep(0.3)


if __name__ == "__main__":
    # While they are all taken nobody can come anew; who was there is served, and whoever comes afterwards.
    run(Attack([crowd], {"--max-connections": "14"}, limits={resource.RLIMIT_NOFILE: 64}, spares=["newcomers"]))
