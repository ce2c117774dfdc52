"""The log of a real server: each call has its line at level debug, failed ones have it at any; no line holds data."""

import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import remote_calls  # noqa: E402
from remote_calls import field  # noqa: E402

import running_server  # noqa: E402

PATIENCE_SECONDS = 10
TIMEOUT_SECONDS = 60
HOSTILE = 'No"\nsuch\x1b[31m op\u202e'


class Log:
    def __init__(self, path):
        self.path = path

    def lines(self):
        return [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()]

    def await_line(self, **wanted):
        """The line about a call that has these fields. It may come behind the answer."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            for line in self.lines():
                if line["msg"] == "call" and all(line.get(key) == value for key, value in wanted.items()):
                    return line
            time.sleep(0.01)
        raise AssertionError(f"no line with {wanted}:\n{self.path.read_text(encoding='utf-8')}")


class CallLines(unittest.TestCase):
    def start(self, *flags):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        address = self.enterContext(running_server.running_server(folder, "--log-format", "json", *flags))
        return address, Log(folder / "server.log")

    def serve(self, *flags):
        address, log = self.start(*flags)
        return self.enterContext(remote_calls.Remote(address)), log

    def test_each_call_has_a_line(self):
        remote, log = self.serve("--log-level", "debug")
        request = remote_calls.execute_request()
        answer = remote.call("Execute", request, remote_calls.SAMPLED)
        self.assertEqual(answer.code, "OK")
        line = log.await_line(method="Execute", code="OK")
        self.assertEqual(line["level"], "debug")
        self.assertEqual(line["op"], "SmoothL1LossBackward")
        self.assertEqual(line["trace_id"], remote_calls.TRACE_ID)
        self.assertEqual(line["request_bytes"], len(request))
        self.assertEqual(line["response_bytes"], len(answer.response))
        self.assertRegex(line["peer"], r"^ipv[46]:.*:\d+$")
        self.assertGreater(line["executed_ns"], 0)
        self.assertGreaterEqual(line["took_ns"], line["queued_ns"] + line["executed_ns"])

    def test_batches_and_sessions_have_one_each(self):
        remote, log = self.serve("--log-level", "debug")
        good, bad = remote_calls.call_of("SmoothL1LossBackward"), remote_calls.call_of("NoSuchOperator")
        batch = field(1, good) + field(1, bad) + remote_calls.raw_of()
        self.assertEqual(remote.call("ExecuteBatch", batch).code, "OK")
        line = log.await_line(method="ExecuteBatch", code="OK")
        self.assertEqual((line["calls"], line["failed_calls"]), (2, 1))
        self.assertGreater(line["executed_ns"], 0)
        self.assertEqual(remote.session(metadata=[remote_calls.SAMPLED]), "OK")
        line = log.await_line(method="Session", code="OK")
        self.assertEqual(line["trace_id"], remote_calls.TRACE_ID)
        self.assertEqual(remote.session(b"\xff\xff"), "INVALID_ARGUMENT")
        self.assertEqual(log.await_line(method="Session", code="INVALID_ARGUMENT")["level"], "info")

    def test_failed_calls_have_a_line_without_being_asked(self):
        remote, log = self.serve()
        self.assertEqual(remote.call("Execute", remote_calls.execute_request()).code, "OK")
        self.assertEqual(remote.call("Execute", remote_calls.execute_request(HOSTILE)).code, "NOT_FOUND")
        line = log.await_line(code="NOT_FOUND")
        self.assertEqual((line["level"], line["reason"]), ("info", "OPERATOR_NOT_FOUND"))
        self.assertEqual(remote.call("Execute", remote_calls.execute_request(beta=-77.25)).code, "INVALID_ARGUMENT")
        line = log.await_line(code="INVALID_ARGUMENT")
        self.assertEqual((line["op"], line["parameter"]), ("SmoothL1LossBackward", "beta"))
        text = log.path.read_text(encoding="utf-8")
        self.assertNotIn('"code":"OK"', text)
        for secret in ("77.25", "12.5", "13.5", "14.5", "\x1b", "\u202e"):
            self.assertNotIn(secret, text)

    def test_a_failed_command_has_a_line_and_is_counted(self):
        address, log = self.start()
        run = ["run", "L1LossBackward", "-i", "grad_output=1", "-i", "self=f32[4]=1", "-i", "target=f32[3]=2", "--session"]
        error, status = self.opserve(address, *run, "-a", "reduction=none")
        self.assertEqual(status, 1, error)
        line = log.await_line(method="Session", code="INVALID_ARGUMENT")
        self.assertEqual((line["level"], line["op"], line["parameter"]), ("info", "L1LossBackward", "target"))
        self.assertEqual(line["reason"], "SHAPE_MISMATCH")
        self.assertGreater(line["command"], 0)
        command = [running_server.bin_folder() / "opserve", "stats", "--target", address]
        self.assertIn(" SHAPE_MISMATCH\n", subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    def test_a_bad_traceparent_is_none(self):
        remote, log = self.serve("--log-level", "debug")
        good = remote_calls.SAMPLED[1]
        for index, values in enumerate(([good.upper()], [good[:-1]], ["00-" + "0" * 32 + good[35:]], [good, good])):
            metadata = [("traceparent", value) for value in values]
            request = remote_calls.execute_request(elements=index + 1)
            self.assertEqual(remote.call("Execute", request, *metadata).code, "OK")
            self.assertNotIn("trace_id", log.await_line(method="Execute", request_bytes=len(request)))

    def opserve(self, address, *words):
        """What the command says on standard error, and its exit status."""
        command = [running_server.bin_folder() / "opserve", "--target", address, *words]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS)
        return ended.stderr, ended.returncode

    def test_the_command_and_the_cpp_client_pass_a_trace_along(self):
        address, log = self.start("--log-level", "debug")
        trace = ["--traceparent", remote_calls.SAMPLED[1]]
        self.assertEqual(self.opserve(address, "devices", *trace), ("", 0))
        self.assertEqual(log.await_line(method="ListDevices")["trace_id"], remote_calls.TRACE_ID)
        call = ["run", "L1LossBackward", "-i", "grad_output=1", "-i", "self=f32[4]=1", "-i", "target=f32[4]=2"]
        self.assertEqual(self.opserve(address, *call, "-a", "reduction=none", *trace), ("", 0))
        self.assertEqual(log.await_line(method="Execute")["trace_id"], remote_calls.TRACE_ID)
        self.assertEqual(self.opserve(address, *call, "-a", "reduction=none", "--session", *trace), ("", 0))
        self.assertEqual(log.await_line(method="Session")["trace_id"], remote_calls.TRACE_ID)

    def test_the_commands_errors_tell_the_trace(self):
        address, _ = self.start()
        trace = ["--traceparent", remote_calls.SAMPLED[1]]
        text, status = self.opserve(address, "ops", "NoSuchOperator", *trace)
        self.assertEqual(status, 1)
        self.assertRegex(text, rf"^opserve: .* \(OPERATOR_NOT_FOUND, NOT_FOUND, trace {remote_calls.TRACE_ID}\)\n$")
        text, _ = self.opserve(address, "--json", "ops", "NoSuchOperator", *trace)
        self.assertEqual(json.loads(text)["error"]["trace_id"], remote_calls.TRACE_ID)
        text, _ = self.opserve(address, "ops", "NoSuchOperator")
        self.assertNotIn("trace", text)
        text, status = self.opserve(address, "devices", "--traceparent", "00-12-34-01")
        self.assertEqual(status, 2)
        self.assertRegex(text, "^opserve: --traceparent: want .*, got '00-12-34-01'\n$")

    def test_lines_about_one_mistake_are_few(self):
        remote, log = self.serve()
        for _ in range(200):
            remote.call("Execute", remote_calls.execute_request(beta=-1.0))
        log.await_line(reason="OUT_OF_RANGE")
        self.assertLess(sum(line["msg"] == "call" for line in log.lines()), 100)


if __name__ == "__main__":
    unittest.main(verbosity=2)
