"""A client that takes all it can get, in a process of its own, for flood_test.py.

Usage: flood.py ADDRESS TOKEN

Makes calls with large tensors and calls that compute long, opens sessions and allocates in one of them, all at once
and each again as soon as it is over, until its input ends. Prints a line, "refused", once something of each kind was
refused, and at the end how often each kind ended how, as JSON: {"calls": {"OK": 9, "RESOURCE_EXHAUSTED RESOURCE_LIMIT":
12}, …}.
"""

import collections
import json
import pathlib
import queue
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tests/server/tracing")]

import remote_calls  # noqa: E402
from protobuf_wire import field, first, floats, packed  # noqa: E402

LARGE_CALLERS, LARGE_ELEMENTS = 8, 1 << 18  # 4 MiB of inputs and output each
LONG_CALLERS, LONG_ELEMENTS = 16, 1 << 22  # of one element that is repeated
SESSIONS, HELD_BYTES, TOO_MANY_BYTES = 12, 4 << 20, 60 << 20
CONTEXT = 1
RESOURCE_EXHAUSTED = 8
PAUSE_SECONDS = 0.002  # of sessions and allocations; a call takes long by itself


class Counts:
    """How often each kind ended how. Thread-safe."""

    def __init__(self):
        self._lock = threading.Lock()
        self._by_kind = {kind: collections.Counter() for kind in ("calls", "sessions", "allocations")}
        self._told = False

    def add(self, kind, how):
        with self._lock:
            self._by_kind[kind][how] += 1
            if not self._told and all(set(ways) - {"OK"} for ways in self._by_kind.values()):
                self._told = True
                print("refused", flush=True)

    def text(self):
        with self._lock:
            return json.dumps(self._by_kind)


def reason_of(trailers):
    """Of the ErrorInfo in the status details; empty where there is none."""
    status = dict(trailers or ()).get("grpc-status-details-bin", b"")
    return (first(status, 3, 2, 1) or b"").decode()


def how(error):
    return f"{error.code().name} {reason_of(error.trailing_metadata())}"


class Session:
    """Stays open until close()."""

    def __init__(self, channel, metadata):
        self._requests, self._id = queue.SimpleQueue(), 0
        self._answers = channel.stream_stream("/opserve.v1.SessionService/Session")(
            iter(self._requests.get, None), metadata=metadata)

    def opened(self):
        """OK, or how it was refused."""
        try:
            next(self._answers)
        except remote_calls.grpc.RpcError as error:
            return how(error)
        self.command(field(3, field(1, CONTEXT)))
        return "OK"

    def command(self, body):
        """OK, or the reason of the error that answers it."""
        self._id += 1
        self._requests.put(field(1, field(1, self._id) + body))
        error = first(next(self._answers), 1, 3)
        if error is None:
            return "OK"
        code = "RESOURCE_EXHAUSTED" if first(error, 1) == RESOURCE_EXHAUSTED else f"code {first(error, 1)}"
        return f"{code} {first(error, 3, 2, 1).decode()}"

    def allocate(self, buffer, size):
        return self.command(field(15, field(1, buffer) + field(2, CONTEXT) + field(3, size)))

    def close(self):
        self._requests.put(None)


def long_request():
    inputs = b"".join(
        field(2, field(1, name) + field(2, remote_calls.FLOAT32) + packed(3, [LONG_ELEMENTS]) + packed(4, [0])
              + field(6, index))
        for index, name in enumerate(("self", "target")))
    call = field(1, "L1Loss") + inputs + field(3, field(1, "reduction") + field(2, 1))
    return field(1, call) + field(15, floats(3.0)) + field(15, floats(1.0))


def make_large_calls(channel, metadata, counts, over):
    call_again_and_again(channel, metadata, counts, over, remote_calls.execute_request(elements=LARGE_ELEMENTS))


def make_long_calls(channel, metadata, counts, over):
    call_again_and_again(channel, metadata, counts, over, long_request())


def call_again_and_again(channel, metadata, counts, over, request):
    execute = channel.unary_unary("/opserve.v1.OperatorService/Execute")
    while not over.is_set():
        try:
            execute(request, timeout=remote_calls.TIMEOUT_SECONDS, metadata=metadata)
            counts.add("calls", "OK")
        except remote_calls.grpc.RpcError as error:
            counts.add("calls", how(error))


def hold_sessions(channel, metadata, counts, over):
    """All that it gets, for as long as it runs; then one more, again and again."""
    held = []
    while not over.is_set():
        session = Session(channel, metadata)
        opened = session.opened()
        counts.add("sessions", opened)
        if opened == "OK" and len(held) < SESSIONS:
            held.append(session)
        else:
            session.close()
            time.sleep(PAUSE_SECONDS)
    for session in held:
        session.close()


def allocate_again_and_again(channel, metadata, counts, over):
    """Some memory that it keeps, and then more than its part."""
    session = Session(channel, metadata)
    if (opened := session.opened()) != "OK":
        sys.exit(f"the first session was refused: {opened}")
    counts.add("allocations", session.allocate(1, HELD_BYTES))
    while not over.is_set():
        counts.add("allocations", session.allocate(2, TOO_MANY_BYTES))
        time.sleep(PAUSE_SECONDS)
    session.close()


def main():
    address, token = sys.argv[1:]
    metadata = (("authorization", f"Bearer {token}"),)
    counts, over = Counts(), threading.Event()
    with remote_calls.Remote(address) as remote:
        work = [make_large_calls] * LARGE_CALLERS + [make_long_calls] * LONG_CALLERS
        work += [allocate_again_and_again, hold_sessions]
        threads = [threading.Thread(target=each, args=(remote.channel, metadata, counts, over)) for each in work]
        for thread in threads:
            thread.start()
        sys.stdin.read()
        over.set()
        for thread in threads:
            thread.join()
    print(counts.text(), flush=True)


if __name__ == "__main__":
    main()
