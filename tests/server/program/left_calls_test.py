"""Clients that leave what they asked for. One that takes no answers may leave 512 small ones: it is refused more until
it takes some, and others are not. One that cancels too many calls has its connection cut, also on a unix socket; one
whose calls take long to come has not.
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

MOST, CONNECTIONS, CALLS = 512, 7, 90
CANCELLED = 40
UPLOADERS, UPLOADS = 12, 120
OK, RESOURCE_EXHAUSTED = 0, 8
PATIENCE_SECONDS = 60.0


def open_windows(connection):
    connection.send(http2.settings(initial_window_size=1 << 20))


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


def check_untaken(address):
    connections = [http2.Connection(address, window=0, refill=False) for _ in range(CONNECTIONS)]
    for connection in connections:
        for _ in range(CALLS):
            connection.start("GetServerInfo", b"")
    refused = CONNECTIONS * CALLS - MOST
    codes, texts = statuses(connections, refused)
    assert codes == [RESOURCE_EXHAUSTED] * refused, codes
    assert len(texts) == 1 and "512" in texts.pop(), texts
    other = http2.Connection(address, source="127.0.0.2")
    assert other.unary("GetServerInfo").status == OK
    for connection in connections:
        open_windows(connection)
    codes, _ = statuses(connections, CONNECTIONS * CALLS)
    assert codes.count(OK) == MOST, codes
    assert connections[0].unary("GetServerInfo").status == OK
    print(f"{refused} calls refused, {MOST} answered later")


def check_flood(address):
    """512 answers that are left, and 512 calls that are refused for them, of none of which an answer is taken."""
    connections, calls = [], 0
    try:
        while calls < 4 * MOST:
            connections.append(http2.Connection(address, window=0, refill=False))
            for _ in range(CALLS):
                connections[-1].start("GetServerInfo", b"")
                calls += 1
            connections[-1].poll_until(lambda: False, 0.2)
    except (http2.Broken, OSError):
        assert calls >= 2 * MOST, f"cut after {calls} calls"
        print(f"cut after {calls} calls whose answers were left")
    else:
        sys.exit(f"{calls} answers were left, and nothing was cut")
    assert http2.Connection(address, source="127.0.0.2").unary("GetServerInfo").status == OK


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
    codes = []
    # A connection's calls end together, the others' are still under way: answers of all at once would count as left
    # wherever the server is slow to send them.
    for connection, calls in uploads.items():
        for call in calls:
            connection.write(call, chunks[-1], end=True)
        codes += statuses([connection], UPLOADS)[0]
    assert codes == [OK] * len(codes), {code: codes.count(code) for code in codes}
    print(f"{len(codes)} uploads beside each other answered")


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


def check_reset(address):
    """Streams that are opened and reset at once, of which no handler ever knows. Bursts of 1000 are allowed."""
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
        assert count >= 1000, f"cut after {count} streams were reset"
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
            check_untaken(address)
            check_flood(address)
        flags = ["--device", "cpu,threads=2", "--max-resets-per-second", "1", "--max-queue-wait", "10m"]
        with running_server.running_server(pathlib.Path(folder), *flags) as address:
            check_cancelled(address)


if __name__ == "__main__":
    main()
