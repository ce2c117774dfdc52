"""Clients that leave small answers unread: refused, then cut, while others are served."""

import pathlib
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tests/hostile")]

import http2  # noqa: E402

import running_server  # noqa: E402

TIMEOUT_SECONDS = 60
METHOD = "GetServerInfo"
OK, RESOURCE_EXHAUSTED = 0, 8
STALL_SECONDS = 0.2  # longer than a client that leaves many may read none
MOST = 512
LEFT, MORE = 80, 40  # more than it may leave then; fewer than would shut it out
ENDLESS = 400
LEAVER, OTHER = "127.0.0.2", "127.0.0.3"


def leave(connection, count):
    """As many answers more, on a connection that reads none."""
    return [connection.start(METHOD, b"") for _ in range(count)]


class UnreadAnswersTest(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="opserve-")))
        listen = ("--listen", "127.0.0.1:0")
        flags = ("--device", "cpu,threads=2")
        self.address, _ = self.enterContext(running_server.running_process(folder, *flags, listen=listen))

    def connect(self, source, **how):
        connection = http2.Connection(self.address, source, **how)
        self.addCleanup(connection.close)
        return connection

    def leaver(self):
        return self.connect(LEAVER, window=0, refill=False)

    def await_some(self, connections, count):
        """The statuses of the calls that have ended, once there are so many."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while True:
            calls = [call for connection in connections for call in connection.calls.values()]
            ended = [call.status for call in calls if call.ended]
            if len(ended) >= count:
                return ended
            self.assertLess(time.monotonic(), deadline, f"{len(ended)} calls have ended")
            for connection in connections:
                connection.poll(0.01)

    def await_all(self, connections):
        """Opens the windows; the statuses of all calls."""
        for connection in connections:
            connection.send(http2.settings(initial_window_size=1 << 20))
        return self.await_some(connections, sum(len(connection.calls) for connection in connections))

    def test_connections_of_a_client_that_reads_none_may_leave_few(self):
        reader, leaver = self.connect(LEAVER), self.leaver()
        # Some of these may be refused already, where the server is slow, and it may begin with the first one late.
        leave(leaver, LEFT)
        time.sleep(10 * STALL_SECONDS)
        more = leave(leaver, MORE)
        self.assertTrue(leaver.poll_until(lambda: all(call.ended for call in more), TIMEOUT_SECONDS))
        self.assertEqual({call.status for call in more}, {RESOURCE_EXHAUSTED})
        self.assertIn("of 64 one read within 100ms", more[-1].text)
        # Others at its address are served, and so is everybody else.
        self.assertEqual(reader.unary(METHOD, seconds=TIMEOUT_SECONDS).status, OK)
        self.assertEqual(self.connect(OTHER).unary(METHOD, seconds=TIMEOUT_SECONDS).status, OK)
        statuses = self.await_all([leaver])
        self.assertGreaterEqual(statuses.count(OK), 16)
        self.assertEqual(statuses.count(OK) + statuses.count(RESOURCE_EXHAUSTED), LEFT + MORE)
        self.assertEqual(leaver.unary(METHOD, seconds=TIMEOUT_SECONDS).status, OK)

    def test_one_that_reads_some_may_leave_as_many_as_there_may_be(self):
        reader, leavers = self.connect(LEAVER), [self.leaver() for _ in range(7)]
        read = []
        for _ in range(8):
            for leaver in leavers:
                leave(leaver, 10)
                read.append(reader.unary(METHOD, seconds=TIMEOUT_SECONDS).status)
        refused = self.await_some(leavers, 7 * 80 - MOST)
        self.assertEqual(set(refused), {RESOURCE_EXHAUSTED})
        statuses = self.await_all(leavers)
        self.assertGreater(statuses.count(OK), LEFT)
        self.assertEqual(statuses.count(OK) + statuses.count(RESOURCE_EXHAUSTED), 7 * 80)
        self.assertEqual(read[:10], [OK] * 10)

    def test_a_client_that_calls_on_is_shut_out(self):
        leaver = self.leaver()
        with self.assertRaises(http2.Broken):
            for _ in range(10):
                leave(leaver, ENDLESS // 10)
                leaver.poll_until(lambda: False, STALL_SECONDS)
            leaver.poll_until(lambda: False, TIMEOUT_SECONDS)
        with self.assertRaises(http2.Broken):
            self.connect(LEAVER).poll_until(lambda: False, TIMEOUT_SECONDS)
        self.assertEqual(self.connect(OTHER).unary(METHOD, seconds=TIMEOUT_SECONDS).status, OK)


if __name__ == "__main__":
    unittest.main()
