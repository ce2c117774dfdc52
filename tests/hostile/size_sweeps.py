"""Every parser and every list, at one size and at eight times that: what takes the server more than some 14 times as
long then grows with the square. Measured in CPU time of the server, the least of three; the short form takes a
quarter of the sizes, once.

Found: gathering tensors that came in small frames; headers in CONTINUATION frames; contexts that go from sessions of
many objects.
"""

import pathlib
from collections.abc import Callable

import hpack
import http2
import wire
from attack import Attack, Target, run
from sessions import CONTEXT, Session

GROWTH, WORST_RATIO = 8, 14.0
LEAST_SECONDS = 0.03  # below that nothing is told


def cpu_seconds(pid: int) -> float:
    """Of all its threads, exactly."""
    spent = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            spent += int((task / "schedstat").read_text().split()[0])
        except (OSError, IndexError):
            pass
    return spent / 1e9


def header(method: str, make: Callable[[int], bytes], most: int):
    return most // GROWTH, lambda connection, size: connection.unary(method, make(size), seconds=60)


def small_frames(connection: http2.Connection, size: int) -> None:
    the_call = wire.call("Hardshrink", [wire.tensor("self", wire.FLOAT32, [size // 4], raw=0)], lambd=0.5)
    content = http2.framed(wire.execute(the_call, [bytes(size // 4 * 4)]))
    call = connection.begin("Execute")
    step = 1 << 15
    for at in range(0, len(content), step):
        part = content[at : at + step]
        connection.take_window(call, len(part))
        connection.send(http2.data_frames(call.stream, part, 33))
    connection.write(call, b"", end=True)
    connection.await_end(call, 60)


def continuations(connection: http2.Connection, size: int) -> None:
    stream = connection.next_stream()
    block = http2.request_headers("NoSuch") + b"\0" + hpack.string("x-long") + hpack.integer(size, 7) + bytes(size)
    out = http2.frame(http2.HEADERS, http2.END_STREAM, stream, block[:16384])
    for at in range(16384, len(block), 16384):
        out += http2.frame(
            http2.CONTINUATION, http2.END_HEADERS if at + 16384 >= len(block) else 0, stream, block[at : at + 16384]
        )
    connection.send(out)
    connection.poll(0.3)


def objects(number: int, *looking: tuple[int, bytes]):
    """A session with so many objects, and as many commands that may look at all of them."""

    def measure(connection: http2.Connection, size: int) -> None:
        session = Session(connection).begin()
        session.send_group([session.command(number, wire.ids(10 + i, CONTEXT), quiet=True) for i in range(size)])
        last = session.send_group(
            [session.command(*each, quiet=True) for _ in range(size // 4) for each in looking]
            + [session.command(wire.QUERY_MEMORY, wire.ids(CONTEXT))]
        )
        session.await_answers(last, 60)
        session.end()
        connection.await_end(session.call, 60)

    return measure


def session_entries(connection: http2.Connection, size: int) -> None:
    """One message of as many calls, each with an entry of its own."""
    session = Session(connection)
    calls = [wire.field(1, wire.l1_loss([8], 1, first_raw=i)) for i in range(size)]
    last = session.send_group([session.command(wire.EXECUTE, call) for call in calls], [bytes(4)] * size)
    session.await_answers(last, 60)
    session.end()
    connection.await_end(session.call, 60)


def interleaved(size: int) -> bytes:
    return b"".join(wire.field(15, b"xx") + wire.field(2000, b"yyyy") for _ in range(size))


MIBIBYTE = 1 << 20
SWEEPS: dict[str, tuple[int, Callable[[http2.Connection, int], object]]] = {
    "inputs of a call": header("Execute", lambda size: wire.field(1, wire.field(2, b"") * (size // 2)), 3 * MIBIBYTE),
    "named inputs": header(
        "Execute",
        lambda size: wire.field(1, wire.field(1, "L1Loss") + wire.field(2, wire.tensor("self", raw=0)) * (size // 14)),
        3 * MIBIBYTE,
    ),
    "attributes of a call": header(
        "Execute", lambda size: wire.field(1, wire.field(3, b"") * (size // 2)), 3 * MIBIBYTE
    ),
    "numbers of an attribute": header(
        "GetWorkspaceSize",
        lambda size: wire.field(
            1,
            wire.call(
                "CtcLoss",
                [wire.tensor("log_probs", shape=[1, size, 1]), wire.tensor("targets", wire.INT64, [size, 0])],
                input_lengths=[1] * size,
                target_lengths=[0] * size,
            ),
        ),
        MIBIBYTE,
    ),
    "values of a tensor": header(
        "Execute",
        lambda size: wire.execute(
            wire.call(
                "Hardshrink", [wire.tensor("self", shape=[size]) + wire.field(7, wire.packed(2, [1] * size))], lambd=0.5
            )
        ),
        MIBIBYTE,
    ),
    "unknown fields": header("ListOperators", lambda size: wire.field(2000, b"") * (size // 3), 3 * MIBIBYTE),
    "raw entries between others": header("Execute", interleaved, 4000),
    "equal calls of a batch": header(
        "ExecuteBatch", lambda size: wire.batch([wire.small_gradient()] * size, [bytes(32)] * 3), 4096
    ),
    "unlike calls of a batch": header(
        "ExecuteBatch", lambda size: wire.batch([wire.l1_loss([1 + i], 1) for i in range(size)], [bytes(4)]), 4096
    ),
    "entries of a batch": header(
        "ExecuteBatch",
        lambda size: wire.batch([wire.small_gradient(3 * i) for i in range(size)], [bytes(32)] * (3 * size)),
        4096,
    ),
    "entries of a session's message": (4096 // GROWTH, session_entries),
    "tensors in small frames": (7 * MIBIBYTE, small_frames),
    "headers in CONTINUATION frames": (MIBIBYTE // 2, continuations),
    "events and contexts": (
        2000,
        objects(wire.CREATE_EVENT, (wire.CREATE_CONTEXT, wire.ids(2)), (wire.DESTROY_CONTEXT, wire.ids(2))),
    ),
    "streams and streams": (
        2000,
        objects(wire.CREATE_STREAM, (wire.CREATE_STREAM, wire.ids(5, CONTEXT)), (wire.DESTROY_STREAM, wire.ids(5))),
    ),
    "buffers and buffers": (
        2000,
        objects(wire.ALLOCATE, (wire.ALLOCATE, wire.ids(5, CONTEXT)), (wire.FREE, wire.ids(5))),
    ),
}


def measured(target: Target, measure: Callable, size: int) -> float:
    connection = target.connect(timeout=30)
    before = cpu_seconds(target.pid)
    try:
        measure(connection, size)
    except http2.Broken:
        pass
    connection.close()
    return cpu_seconds(target.pid) - before


def sweep(target: Target) -> list[str]:
    reasons = []
    for what, (size, measure) in SWEEPS.items():
        size = size if target.seconds >= 10 else size // 4
        small = large = float("inf")
        # The least of three: what else runs makes some longer.
        for _ in range(3):
            small = min(small, measured(target, measure, size))
            large = min(large, measured(target, measure, GROWTH * size))
            ratio = large / max(small, 1e-4)
            if large <= LEAST_SECONDS or ratio <= WORST_RATIO:
                break
        else:
            reasons.append(f"{what}: {GROWTH} times as many take {ratio:.0f} times as long ({large:.2f} s)")
        target.note(f"{what}: {size} in {small * 1000:.1f} ms, {GROWTH * size} in {large * 1000:.1f} ms")
    return reasons


def largest(target: Target) -> None:
    for size, measure in SWEEPS.values():
        measure(target.connect(), GROWTH * size)


if __name__ == "__main__":
    run(Attack([largest], {"--max-message-bytes": "64MiB"}, rss_mib=900, prepare=sweep))
