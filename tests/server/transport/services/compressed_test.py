"""Compressed requests: read where --max-inflated-bytes says so, and charged for all that they inflate to.

Usage: compressed_test.py [unittest's arguments]
"""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tests/server/tracing")]

import grpc  # noqa: E402

import remote_calls  # noqa: E402
import running_server  # noqa: E402
from protobuf_wire import field, first, packed  # noqa: E402

OPERATORS = "/opserve.v1.OperatorService/"
INFERENCE = "/inference.GRPCInferenceService/"
ELEMENTS = 3 << 20  # 12 MiB each


def relu():
    tensor = field(1, "self") + field(2, "FP32") + packed(3, [ELEMENTS])
    return field(1, "Relu") + field(5, tensor) + field(7, bytes(4 * ELEMENTS))


class CompressedTest(unittest.TestCase):
    def serve(self, *flags):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="opserve-")))
        address = self.enterContext(running_server.running_server(
            folder, "--device", "cpu,threads=1", "--max-inflated-bytes", "64MiB", *flags))
        self.channel = self.enterContext(grpc.insecure_channel(
            address, compression=grpc.Compression.Gzip, options=[("grpc.max_receive_message_length", -1)]))

    def ended(self, method, request):
        """The call's code and text. The stream's errors are answers, with a text."""
        try:
            if method.endswith("/ModelStreamInfer"):
                stream = self.channel.stream_stream(method)(iter([request]), timeout=remote_calls.TIMEOUT_SECONDS)
                text = (first(next(stream), 1) or b"").decode()
                return "ANSWER" if text else "OK", text
            self.channel.unary_unary(method)(request, timeout=remote_calls.TIMEOUT_SECONDS)
        except grpc.RpcError as error:
            return error.code().name, error.details()
        return "OK", ""

    def test_they_are_read(self):
        self.serve("--max-queue-wait", "60s")
        execute = remote_calls.execute_request(elements=ELEMENTS)
        for method, request in ((OPERATORS + "Execute", execute), (OPERATORS + "ExecuteBatch", execute),
                                (OPERATORS + "GetServerInfo", field(200, bytes(1 << 20))),
                                (INFERENCE + "ModelInfer", relu()), (INFERENCE + "ModelStreamInfer", relu())):
            with self.subTest(method=method):
                self.assertEqual(self.ended(method, request), ("OK", ""))

    def test_they_are_charged_inflated(self):
        self.serve("--host-memory-limit", "8MiB")
        execute = remote_calls.execute_request(elements=ELEMENTS)
        for method, request in ((OPERATORS + "Execute", execute), (OPERATORS + "ExecuteBatch", execute),
                                (OPERATORS + "GetServerInfo", field(200, bytes(12 << 20))),
                                (INFERENCE + "ModelInfer", relu()), (INFERENCE + "ModelStreamInfer", relu())):
            with self.subTest(method=method):
                code, text = self.ended(method, request)
                self.assertIn(code, ("RESOURCE_EXHAUSTED", "ANSWER"))
                self.assertIn("bytes of host memory more", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
