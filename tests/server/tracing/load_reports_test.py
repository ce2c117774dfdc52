"""What balancers are told: the load report behind an answer, as cncf/xds numbers its fields. gRPC's clients keep it for their
balancers and show it to no program, so it is read off the connection."""

import pathlib
import struct
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "program"))
import remote_calls  # noqa: E402

import running_server  # noqa: E402
from protobuf_wire import fields  # noqa: E402
from raw_connection import SETTINGS, RawConnection, frame  # noqa: E402

KEY = b"endpoint-load-metrics-bin"
# gRPC's own setting: binary metadata comes as it is behind a byte of 0, and not in base64.
TRUE_BINARY = frame(SETTINGS, 0, 0, struct.pack(">HI", 0xFE03, 1))
ASKED = ("opserve-load-report", "1")
PATIENCE_SECONDS = 15
CPU, REQUEST_COST, RPS, EPS, NAMED = 1, 4, 6, 7, 8


def report_of(block):
    """The load report among trailers, as HPACK has them; None where there is none."""
    _, key, rest = block.partition(KEY)
    if not key:
        return None
    assert rest[0] & 0x80 == 0, "bytes as they are, not in Huffman's code"
    length, at, shift = rest[0] & 0x7F, 1, 0
    while shift >= 0 and length >= 0x7F:
        length += (rest[at] & 0x7F) << shift
        shift = shift + 7 if rest[at] & 0x80 else -1
        at += 1
    assert rest[at] == 0
    return fields(rest[at + 1 : at + length])


def double(content):
    return struct.unpack("<d", content)[0]


def doubles_by_name(entries):
    return {fields(entry)[1][0].decode(): double(fields(entry)[2][0]) for entry in entries}


class LoadReports(unittest.TestCase):
    def serve(self, *flags):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        return self.enterContext(running_server.running_server(folder, *flags))

    def report(self, address, *metadata, method="Execute", request=None):
        """What came behind the answer to one call: the report, or None."""
        message = remote_calls.execute_request() if request is None else request
        connection = RawConnection(address)
        connection.send_bytes(TRUE_BINARY)
        connection.begin(method, metadata=metadata)
        connection.send(message, len(message) + 5)
        connection.await_end(PATIENCE_SECONDS)
        connection.close()
        self.assertTrue(connection.ended)
        return report_of(connection.header_blocks[-1])

    def test_they_are_off_unless_asked_for(self):
        self.assertIsNone(self.report(self.serve(), ASKED))

    def test_whoever_asks_is_told(self):
        address = self.serve("--load-reports", "asked")
        self.assertIsNone(self.report(address))
        self.assertIsNotNone(self.report(address, ASKED))

    def test_a_report_has_the_servers_levels_and_the_calls_times(self):
        address = self.serve("--load-reports", "always")
        remote = self.enterContext(remote_calls.Remote(address))
        large = remote_calls.execute_request(elements=1 << 12)
        report = self.report(address, request=large)
        cost = doubles_by_name(report[REQUEST_COST])
        self.assertEqual(sorted(cost), ["executed_seconds", "queued_seconds"])
        self.assertGreater(cost["executed_seconds"], 0)
        self.assertLess(cost["executed_seconds"], PATIENCE_SECONDS)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not {CPU, RPS, EPS, NAMED} <= report.keys():  # proto3 leaves zeros out
            self.assertLess(time.monotonic(), deadline, report.keys())
            for beta in (1.0, -1.0) * 10:
                remote.call("Execute", remote_calls.execute_request(beta=beta))
            report = self.report(address)
        self.assertGreater(double(report[CPU][0]), 0)
        self.assertGreater(double(report[RPS][0]), double(report[EPS][0]))
        self.assertEqual(list(doubles_by_name(report[NAMED])), ["queue_wait_seconds"])

    def test_failed_calls_and_all_methods_have_one(self):
        address = self.serve("--load-reports", "always")
        self.assertIsNotNone(self.report(address, request=remote_calls.execute_request(beta=-1.0)))
        for method in ("GetServerInfo", "GetStatistics", "ExecuteBatch"):
            self.assertIsNotNone(self.report(address, method=method, request=b""), method)


if __name__ == "__main__":
    unittest.main(verbosity=2)
