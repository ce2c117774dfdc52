"""Spans that a real server sends to a collector, held against OTLP's JSON encoding, and its list of slow calls."""

import http.server
import json
import os
import pathlib
import re
import signal
import stat
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import remote_calls  # noqa: E402
from remote_calls import NOT_SAMPLED, PARENT_ID, SAMPLED, TRACE_ID, field  # noqa: E402

import running_server  # noqa: E402

PATIENCE_SECONDS = 15
SERVER, INTERNAL = 2, 1
PHASES = ["parse", "queue", "execute", "answer"]
# opentelemetry/proto/trace/v1/trace.proto in proto3's JSON, as OTLP changes it: ids are hexadecimal digits, not base64;
# 64-bit numbers are strings; enums are numbers.
HEX_16, HEX_32, DECIMAL = re.compile("[0-9a-f]{16}"), re.compile("[0-9a-f]{32}"), re.compile("[0-9]{1,20}")
SPAN_FIELDS = {
    "traceId": HEX_32,
    "spanId": HEX_16,
    "parentSpanId": HEX_16,
    "name": re.compile(".+"),
    "startTimeUnixNano": DECIMAL,
    "endTimeUnixNano": DECIMAL,
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):  # noqa: N802: http.server's name
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status, answer = self.server.answers.pop(0) if self.server.answers else (200, b"{}")
        self.server.requests.append((self.path, self.headers["Content-Type"], status, body))
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class FakeCollector(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, *answers):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.requests = list(answers), []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def await_spans(self, count):
        """The spans that were taken, in the order in which they came."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while len(spans := self.spans()) < count:
            if time.monotonic() > deadline:
                raise AssertionError(f"{len(spans)} spans of {count}: {spans}")
            time.sleep(0.01)
        return spans

    def spans(self):
        spans = []
        for _, _, status, body in list(self.requests):
            for resource in json.loads(body)["resourceSpans"] if status == 200 else ():
                for scope in resource["scopeSpans"]:
                    spans += scope["spans"]
        return spans


def attributes_of(span):
    attributes = {}
    for attribute in span["attributes"]:
        assert set(attribute) == {"key", "value"} and len(attribute["value"]) == 1, attribute
        (kind, value), = attribute["value"].items()
        assert isinstance(value, str), attribute
        assert kind == "stringValue" or (kind == "intValue" and DECIMAL.fullmatch(value)), attribute
        attributes[attribute["key"]] = value
    return attributes


class Traces(unittest.TestCase):
    def serve(self, *flags):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        address, self.pid = self.enterContext(running_server.running_process(self.folder, *flags))
        return self.enterContext(remote_calls.Remote(address))

    def check_span(self, span):
        self.assertLessEqual(set(span), set(SPAN_FIELDS) | {"kind", "attributes", "status"})
        for name, pattern in SPAN_FIELDS.items():
            if name in span:
                self.assertIsInstance(span[name], str)
                self.assertRegex(span[name], re.compile(f"^{pattern.pattern}$"), name)
        self.assertIn(span["kind"], (SERVER, INTERNAL))
        self.assertLessEqual(int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"]))

    def test_a_sampled_call_becomes_spans(self):
        collector = self.enterContext(FakeCollector())
        remote = self.serve("--trace-endpoint", collector.url)
        before = time.time_ns()
        self.assertEqual(remote.call("Execute", remote_calls.execute_request(), NOT_SAMPLED).code, "OK")
        self.assertEqual(remote.call("Execute", remote_calls.execute_request()).code, "OK")
        self.assertEqual(remote.call("Execute", remote_calls.execute_request(elements=1 << 16), SAMPLED).code, "OK")
        spans = collector.await_spans(5)
        after = time.time_ns()
        path, content_type, _, body = collector.requests[0]
        self.assertEqual((path, content_type), ("/v1/traces", "application/json"))
        resource = json.loads(body)["resourceSpans"][0]["resource"]
        self.assertEqual(attributes_of(resource)["service.name"], "opserve")
        for span in spans:
            self.check_span(span)
            self.assertEqual(span["traceId"], TRACE_ID)
        call, *phases = spans
        self.assertEqual((call["name"], call["kind"]), ("opserve.v1.OperatorService/Execute", SERVER))
        self.assertEqual(call["parentSpanId"], PARENT_ID)
        self.assertTrue(before <= int(call["startTimeUnixNano"]) <= int(call["endTimeUnixNano"]) <= after)
        self.assertEqual(attributes_of(call)["opserve.operator"], "SmoothL1LossBackward")
        self.assertEqual([phase["name"] for phase in phases], PHASES)
        self.assertEqual(len({span["spanId"] for span in spans}), 5)
        ends = call["startTimeUnixNano"]
        for phase in phases:
            self.assertEqual(phase["parentSpanId"], call["spanId"])
            self.assertEqual(phase["startTimeUnixNano"], ends, "phases follow each other")
            ends = phase["endTimeUnixNano"]
        self.assertEqual(ends, call["endTimeUnixNano"])

    def test_sessions_batches_and_failures_are_traced(self):
        collector = self.enterContext(FakeCollector())
        remote = self.serve("--trace-endpoint", collector.url, "--trace-sample", "100%")
        self.assertEqual(remote.session(metadata=[SAMPLED]), "OK")
        batch = field(1, remote_calls.call_of("SmoothL1LossBackward")) + remote_calls.raw_of()
        self.assertEqual(remote.call("ExecuteBatch", batch).code, "OK")
        self.assertEqual(remote.call("Execute", remote_calls.execute_request(beta=-1.0)).code, "INVALID_ARGUMENT")
        spans = collector.await_spans(1 + 5 + 3)
        for span in spans:
            self.check_span(span)
        by_method = {attributes_of(span)["rpc.method"]: span for span in spans if span["kind"] == SERVER}
        self.assertEqual(sorted(by_method), ["Execute", "ExecuteBatch", "Session"])
        self.assertEqual(by_method["Session"]["name"], "opserve.v1.SessionService/Session")
        self.assertEqual(by_method["Session"]["parentSpanId"], PARENT_ID)
        self.assertNotIn("parentSpanId", by_method["Execute"], "a trace of its own")
        self.assertEqual(attributes_of(by_method["Execute"])["opserve.reason"], "OUT_OF_RANGE")
        self.assertEqual(attributes_of(by_method["ExecuteBatch"])["opserve.calls"], "1")

    def test_what_the_collector_does_not_take_is_tried_again_or_counted(self):
        collector = self.enterContext(FakeCollector((503, b"later"), (400, b"no"), (200, b"{}")))
        remote = self.serve("--trace-endpoint", collector.url + "/custom/path")
        for _ in range(2):
            tried = len(collector.requests)
            remote.call("Execute", remote_calls.execute_request(), SAMPLED)
            deadline = time.monotonic() + PATIENCE_SECONDS
            while len(collector.requests) < tried + 1 + (tried == 0) and time.monotonic() < deadline:
                time.sleep(0.01)
        self.assertEqual([status for _, _, status, _ in collector.requests], [503, 400, 200])
        self.assertEqual(collector.requests[0][3], collector.requests[1][3])
        self.assertEqual({path for path, *_ in collector.requests}, {"/custom/path"})
        log = self.await_log("spans dropped")
        self.assertIn('error="HTTP status 400: no"', log)

    def test_no_collector_costs_no_call(self):
        remote = self.serve("--trace-endpoint", "http://127.0.0.1:1")
        for _ in range(100):
            self.assertEqual(remote.call("Execute", remote_calls.execute_request(), SAMPLED).code, "OK")

    def test_slow_calls_are_written_on_a_signal(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "slow.json"
            remote = self.serve("--slow-call-time", "1ns", "--slow-calls-file", str(path))
            self.assertEqual(remote.call("Execute", remote_calls.execute_request(), SAMPLED).code, "OK")
            self.assertEqual(remote.session(), "OK")
            calls = self.written_calls(path, 6)
        self.assertEqual(calls[0]["name"], "Execute SmoothL1LossBackward")
        self.assertEqual(calls[0]["args"]["trace_id"], TRACE_ID)
        self.assertEqual([event["name"] for event in calls[1:5]], PHASES)
        self.assertEqual(calls[5]["name"], "Session")

    def test_a_signal_without_a_file_is_no_harm(self):
        remote = self.serve()
        os.kill(self.pid, signal.SIGUSR1)
        self.await_log("slow calls not written")
        self.assertEqual(remote.call("Execute", remote_calls.execute_request()).code, "OK")

    def written_calls(self, path, count):
        """The events of calls and phases, once there are so many: a session may end behind its client's."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            path.unlink(missing_ok=True)
            os.kill(self.pid, signal.SIGUSR1)
            while not path.exists():
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
            trace = json.loads(path.read_text(encoding="ascii"))
            calls = [event for event in trace["traceEvents"] if event["ph"] == "X"]
            if len(calls) >= count:
                return calls
        raise AssertionError(calls)

    def await_log(self, part):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while part not in (log := (self.folder / "server.log").read_text(encoding="utf-8")):
            self.assertLess(time.monotonic(), deadline, f"no {part!r} in:\n{log}")
            time.sleep(0.01)
        return log


if __name__ == "__main__":
    unittest.main(verbosity=2)
