"""ModelStreamInfer by its own bytes: order, errors, ends, and clients that do not read.

Usage: stream_test.py [unittest's arguments]
"""

import pathlib
import queue
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tests/server/tracing")]

import grpc  # noqa: E402

import running_server  # noqa: E402
from protobuf_wire import field, fields, first, floats, packed  # noqa: E402

TIMEOUT_SECONDS = 60
CUT_SECONDS = 9  # --answer-timeout, a second for each MiB of an answer, and how seldom the server looks
METHOD = "/inference.GRPCInferenceService/ModelStreamInfer"
LARGE = 1 << 20


def request(identity, elements=(-1.0, 2.0), model="Relu", parameters=b""):
    values = floats(*elements)
    tensor = field(1, "self") + field(2, "FP32") + packed(3, [len(elements)])
    return field(1, model) + field(3, identity) + parameters + field(5, tensor) + field(7, values)


def parameter(name, value):
    return field(4, field(1, name) + field(2, field(3, value)))


def read(answer):
    """(id, error, raw outputs) of a ModelStreamInferResponse, which says that it is the last to its request."""
    error = first(answer, 1)
    response = first(answer, 2)
    marks = [fields(entry) for entry in fields(response).get(4, [])]
    assert [(mark[1][0], first(mark[2][0], 1)) for mark in marks] == [(b"triton_final_response", 1)], marks
    return first(response, 3).decode(), error and error.decode(), fields(response).get(6, [])


class Stream:
    """Sends what it is told to."""

    def __init__(self, channel, metadata=(), timeout=TIMEOUT_SECONDS):
        self.requests = queue.Queue()
        call = channel.stream_stream(METHOD)
        self.answers = call(iter(self.requests.get, None), timeout=timeout, metadata=metadata)

    def send(self, *messages):
        for message in messages:
            self.requests.put(message)

    def half_close(self):
        self.requests.put(None)


class StreamTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="opserve-")))

    def serve(self, *flags):
        address = self.enterContext(running_server.running_server(self.folder, "--device", "cpu,threads=2", *flags))
        options = [("grpc.max_receive_message_length", -1)]
        return self.enterContext(grpc.insecure_channel(address, options=options))

    def counted(self, channel, what):
        answer = channel.unary_unary("/inference.GRPCInferenceService/ModelStatistics")(field(1, "Relu"))
        return first(answer, 1, 6, what, 1) or 0

    def await_counted(self, channel, what, count):
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while self.counted(channel, what) < count:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def code_of(self, answers):
        with self.assertRaises(grpc.RpcError) as raised:
            list(answers)
        return raised.exception.code().name

    def test_answers_come_in_the_order_of_the_requests(self):
        stream = Stream(self.serve())
        for number in range(200):
            # Some take much longer than those behind them.
            stream.send(request(str(number), (-1.0, float(number)) * (20000 if number % 20 == 0 else 1)))
        stream.half_close()
        answers = [read(answer) for answer in stream.answers]
        self.assertEqual([identity for identity, _, _ in answers], [str(number) for number in range(200)])
        self.assertEqual(answers[7], ("7", None, [floats(0, 7)]))

    def test_an_error_is_an_answer(self):
        stream = Stream(self.serve())
        stream.send(request("a"), request("b", model="Rellu"), request("c", parameters=parameter("x", "1")), b"\xff",
                    request("d", ()), request("e"))
        stream.half_close()
        answers = list(stream.answers)
        self.assertEqual(len(answers), 6)
        self.assertEqual(read(answers[0]), ("a", None, [floats(0, 2)]))
        self.assertIn('did you mean "Relu"', read(answers[1])[1])
        self.assertEqual(read(answers[1])[::2], ("b", []))
        self.assertIn("x", read(answers[2])[1])
        self.assertIn("message", first(answers[3], 1).decode())
        self.assertEqual(read(answers[4]), ("d", None, [b""]))
        self.assertEqual(read(answers[5])[0], "e")

    def test_with_a_status_for_an_error(self):
        channel = self.serve()
        stream = Stream(channel, metadata=[("triton_grpc_error", "true")])
        stream.send(request("a"), request("b", model="Rellu"), request("c"))
        self.assertEqual(read(next(stream.answers))[0], "a")
        self.assertEqual(self.code_of(stream.answers), "NOT_FOUND")
        self.assertEqual(stream.answers.code().name, "NOT_FOUND")

    def test_a_stream_without_messages_ends_well(self):
        stream = Stream(self.serve())
        stream.half_close()
        self.assertEqual(list(stream.answers), [])

    def test_who_does_not_read_is_not_read_from_and_cut(self):
        channel = self.serve("--answer-timeout", "1s")
        stream = Stream(channel, timeout=None)
        large = (1.0,) * LARGE  # 4 MiB
        stream.send(*[request(str(number), large) for number in range(100)])
        # What gRPC takes, what the server keeps, and what is under way: not all of them.
        self.await_counted(channel, 1, 4)
        time.sleep(CUT_SECONDS)
        stream.half_close()
        self.assertEqual(self.code_of(stream.answers), "DEADLINE_EXCEEDED")  # the server's: the client has none
        self.assertLess(self.counted(channel, 1), 40)

    def test_who_leaves_leaves_nothing_behind(self):
        channel = self.serve()
        stream = Stream(channel)
        stream.send(*[request(str(number), (1.0,) * LARGE) for number in range(20)])
        next(stream.answers)
        stream.answers.cancel()
        # The end of the server waits for all that runs, and its status says whether anything was wrong.
        self.assertEqual(self.code_of(stream.answers), "CANCELLED")

    def test_a_deadline_ends_a_stream(self):
        stream = Stream(self.serve(), timeout=3)
        stream.send(request("a"))
        self.assertEqual(read(next(stream.answers))[0], "a")
        self.assertEqual(self.code_of(stream.answers), "DEADLINE_EXCEEDED")

    def test_an_idle_stream_does_not_keep_the_server_from_its_end(self):
        stream = Stream(self.serve())
        stream.send(request("a"))
        self.assertEqual(read(next(stream.answers))[0], "a")


if __name__ == "__main__":
    unittest.main()
