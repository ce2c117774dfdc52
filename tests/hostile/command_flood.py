"""Commands that cost nothing, by the million: quiet ones, queries, events recorded on an idle stream; calls of 8
floats with their bytes; chunks of one element.
"""

import wire
from attack import Attack, Target, run
from sessions import CONTEXT, Session, full_message

RAW = [wire.floats(*[1.0] * 8)] * 3
QUIET = full_message((wire.RECORD_EVENT, wire.ids(1, 1)), most_bytes=200_000)
QUERIES = full_message(
    (wire.QUERY_STREAM, wire.ids(1)),
    (wire.QUERY_MEMORY, wire.ids(1)),
    (wire.QUERY_EVENT, wire.ids(1)),
    most_bytes=200_000,
    quiet=False,
)


def repeat(message: bytes):
    def attack(target: Target) -> None:
        session = Session(target.connect(target.index)).begin()
        session.send(wire.CREATE_EVENT, wire.ids(1, CONTEXT))
        session.send(wire.RECORD_EVENT, wire.ids(1, 1))
        session.connection.message(session.call, message)
        session.end()
        session.connection.await_end(session.call, 10)

    return attack


def small_calls(target: Target) -> None:
    session = Session(target.connect(target.index)).begin()
    bodies = [wire.field(1, wire.small_gradient(3 * i)) for i in range(200)]
    while True:
        session.send_group([session.command(wire.EXECUTE, body) for body in bodies], RAW * 200)
        session.drop_answers()


def one_by_one(target: Target) -> None:
    """A call in chunks of one element, answered element by element."""
    session = Session(target.connect(target.index)).begin()
    the_call = wire.call("Hardshrink", [wire.tensor("self", wire.FLOAT32, [1 << 20], chunked=True)], lambd=0.5)
    whole = session.send(wire.EXECUTE_CHUNKED, wire.field(1, the_call))
    bodies = [wire.ids(whole, "self", i) for i in range(256)]
    for _ in range(1 << 12):
        session.send_group([session.command(wire.INPUT_CHUNK, body) for body in bodies], [bytes(4)] * 256)
        session.drop_answers()


def in_small_chunks(target: Target) -> None:
    """Downloads in chunks of one byte."""
    session = Session(target.connect(target.index)).begin()
    session.allocate(1, 1 << 20)
    for _ in range(64):
        session.download(1, 1 << 20, chunk=1)
    while not session.call.ended:
        session.connection.poll(target.seconds)
        session.drop_answers()


if __name__ == "__main__":
    run(Attack([repeat(QUIET), repeat(QUERIES), small_calls, one_by_one, in_small_chunks]))
