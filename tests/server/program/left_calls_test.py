"""Clients that leave what they asked for: one that cancels too many calls has its connection cut, also on a unix
socket; one whose calls take long to come has not.
"""

import pathlib
import struct
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "tests" / "hostile")]
import http2  # noqa: E402
import running_server  # noqa: E402
import wire  # noqa: E402

CANCELLED = 40
UPLOADERS, UPLOADS, ENDED_TOGETHER = 12, 120, 20
# Of a client, unread: answers that nothing was computed for once none was read for 100 ms, and large ones.
FEW_LEFT, LARGE_LEFT = 64, 512
OK, RESOURCE_EXHAUSTED = 0, 8
PATIENCE_SECONDS = 60.0


def statuses(connections, count):
    """Of the calls that have ended, once there are so many."""
    def ended():
        return [call for connection in connections for call in connection.calls.values() if call.ended]

    until = time.monotonic() + PATIENCE_SECONDS
    while len(ended()) < count and time.monotonic() < until:
        for connection in connections:
            connection.poll(0.01)
    assert len(ended()) == count, f"{len(ended())} calls have ended, want {count}"
    return [call.status for call in ended()], {call.text for call in ended() if call.status != OK}


def check_uploads(address):
    """Calls whose messages are under way, as many as may be, are none that were taken back: all are answered."""
    request = http2.framed(wire.execute(wire.l1_loss([1 << 10], 1), [wire.floats(*[1.0] * 1024)]))
    chunks = [request[begin : begin + (1 << 10)] for begin in range(0, len(request), 1 << 10)]
    connections = [http2.Connection(address) for _ in range(UPLOADERS)]
    uploads = {connection: [connection.begin("Execute") for _ in range(UPLOADS)] for connection in connections}
    for chunk in chunks[:-1]:
        for connection, calls in uploads.items():
            for call in calls:
                connection.write(call, chunk, end=False)
            connection.poll_until(lambda: False, 0)
        time.sleep(0.3)  # which the server looks at them in
    # Few end together, far from FEW_LEFT, while the others are still under way: answers of many at once would count as
    # left wherever the server is slow to send them.
    for connection, calls in uploads.items():
        for begin in range(0, UPLOADS, ENDED_TOGETHER):
            for call in calls[begin : begin + ENDED_TOGETHER]:
                connection.write(call, chunks[-1], end=True)
            codes, texts = statuses([connection], begin + ENDED_TOGETHER)
            assert codes == [OK] * len(codes), ({code: codes.count(code) for code in codes}, texts)
    print(f"{UPLOADERS * UPLOADS} uploads beside each other answered")


def check_cancelled(address):
    """One in sixteen of them is looked at, on each of gRPC's threads, and stands for sixteen: more than ten."""
    connection = http2.Connection(address)
    request = wire.execute(wire.l1_loss([1 << 26], 1), [wire.floats(1.0)])
    calls = [connection.start("Execute", request) for _ in range(CANCELLED)]
    # A round trip: what was sent before is with the server.
    assert connection.unary("GetServerInfo", seconds=PATIENCE_SECONDS).status == OK
    try:
        for call in calls:
            connection.reset(call)
        connection.poll_until(lambda: False, PATIENCE_SECONDS)
    except http2.Broken:
        print(f"cut after {CANCELLED} calls were cancelled")
        return
    sys.exit(f"{CANCELLED} calls were cancelled, and the connection is not cut")


def refusal(connection, method, request):
    """Why a call is refused whose answer the connection does not read."""
    call = connection.start(method, request)
    assert connection.await_end(call, PATIENCE_SECONDS), f"{method} is not refused"
    assert call.status == RESOURCE_EXHAUSTED, (call.status, call.text)
    return call.text


def check_unread(address):
    """Answers of 64 KiB and more are bounded, too. Those of ListOperators are bounded as small ones."""
    unread = http2.Connection(address, window=0, refill=False)
    for _ in range(FEW_LEFT):
        unread.start("ListOperators", b"")
    unread.poll_until(lambda: False, 0.5)
    reason = refusal(unread, "ListOperators", b"")
    assert f"of {FEW_LEFT} one read within 100ms" in reason, reason
    unread.close()
    connections = [http2.Connection(address, window=0, refill=False) for _ in range(6)]
    request = wire.execute(wire.l1_loss([1 << 14], 0), [wire.floats(1.0)])
    for i in range(LARGE_LEFT + 1):
        connections[i % len(connections)].start("Execute", request)
    codes, reasons = statuses(connections, 1)
    assert codes == [RESOURCE_EXHAUSTED], codes
    assert f"at most {LARGE_LEFT} of 64 KiB or more" in reasons.pop()
    print("unread answers are bounded, of any size")


def check_reset(address):
    """Streams that are opened and reset at once, of which no handler ever knows. Bursts of 200 without a message are allowed."""
    connection = http2.Connection(address)
    block, cancel = http2.request_headers(http2.SESSION), struct.pack(">I", http2.CANCEL)
    until = time.monotonic() + PATIENCE_SECONDS
    count = 0
    try:
        while time.monotonic() < until:
            stream = connection.next_stream()
            connection.send(
                http2.frame(http2.HEADERS, http2.END_HEADERS, stream, block)
                + http2.frame(http2.RST_STREAM, 0, stream, cancel)
            )
            connection.poll(0)
            count += 1
    except (http2.Broken, OSError):
        assert count >= 200, f"cut after {count} streams were reset"
        print(f"{address}: cut after {count} streams were reset")
        return
    sys.exit(f"{address}: {count} streams were reset, and the connection is not cut")


def main():
    with tempfile.TemporaryDirectory() as folder:
        unix = f"unix:{folder}/socket"
        with running_server.running_server(pathlib.Path(folder), "--listen", unix) as address:
            check_reset(unix)
            assert http2.Connection(unix).unary("GetServerInfo").status == OK
            check_reset(address)
        with running_server.running_server(pathlib.Path(folder), "--device", "cpu,threads=2") as address:
            check_uploads(address)
            check_unread(address)
        flags = ["--device", "cpu,threads=2", "--max-resets-per-second", "1", "--max-queue-wait", "10m"]
        with running_server.running_server(pathlib.Path(folder), *flags) as address:
            check_cancelled(address)


if __name__ == "__main__":
    main()
