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
METHOD = "ListDevices"
RESOURCE_EXHAUSTED = 8
IDLE_SECONDS = 0.2  # longer than a client may read nothing
LEFT = 100  # more than it may leave then
REFUSED = 400  # more than it may send then
LEAVER, OTHER = "127.0.0.2", "127.0.0.3"


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

    def leave(self, count, connection=None):
        """So many answers, on a connection that reads none."""
        connection = connection or self.connect(LEAVER, window=0, refill=False)
        for _ in range(count):
            connection.start(METHOD, b"")
        return connection

    def await_status(self, connection, status):
        """One of calls that are far apart ends so; its text."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while True:
            time.sleep(IDLE_SECONDS)
            call = connection.unary(METHOD, seconds=TIMEOUT_SECONDS)
            if call.status == status:
                return call.text
            self.assertLess(time.monotonic(), deadline, f"status {call.status} {call.text}")

    def test_a_client_that_reads_none_is_refused_until_it_does(self):
        reader = self.connect(LEAVER)
        leaver = self.leave(LEFT)
        text = self.await_status(reader, RESOURCE_EXHAUSTED)
        self.assertIn("(64 once it has read none for 100ms)", text)
        self.assertEqual(self.connect(OTHER).unary(METHOD, seconds=TIMEOUT_SECONDS).status, 0)
        leaver.close()
        self.await_status(reader, 0)

    def test_a_client_that_calls_on_is_cut(self):
        reader = self.connect(LEAVER)
        leaver = self.leave(LEFT)
        self.await_status(reader, RESOURCE_EXHAUSTED)
        with self.assertRaises(http2.Broken):
            self.leave(REFUSED, leaver)
            leaver.poll_until(lambda: False, TIMEOUT_SECONDS)
        with self.assertRaises(http2.Broken):
            self.connect(LEAVER).poll_until(lambda: False, TIMEOUT_SECONDS)
        self.assertEqual(self.connect(OTHER).unary(METHOD, seconds=TIMEOUT_SECONDS).status, 0)


if __name__ == "__main__":
    unittest.main()
