"""Bearer tokens: who has none, a wrong one, or one without the role is refused; the file may change meanwhile.

Usage: tokens_test.py [unittest's arguments]
"""

import hashlib
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tests/server/tracing")]

import remote_calls  # noqa: E402
import running_server  # noqa: E402
from protobuf_wire import field, fields, first, packed  # noqa: E402

PATIENCE_SECONDS = 60
REFLECTION = "grpc.reflection.v1.ServerReflection"
HEALTH = "grpc.health.v1.Health"
ALL = "discover,execute,session,observe"


def line(name, roles, token):
    return f"{name} {roles} sha256:{hashlib.sha256(token.encode()).hexdigest()}\n"


def bearer(token):
    return ("authorization", f"Bearer {token}")


def info_of(ended):
    """(reason, metadata) of the ErrorInfo in the status details."""
    status = ended.trailers["grpc-status-details-bin"]
    any_message = fields(status)[3][0]
    info = fields(any_message)[2][0]
    entries = [fields(entry) for entry in fields(info).get(3, [])]
    return fields(info)[1][0].decode(), {entry[1][0].decode(): entry[2][0].decode() for entry in entries}


class TokensTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="opserve-")))
        self.tokens = self.folder / "tokens"

    def serve(self, *lines, flags=()):
        self.tokens.write_text("".join(lines), encoding="ascii")
        address = self.enterContext(running_server.running_server(
            self.folder, "--token-file", self.tokens, "--device", "cpu,threads=1", *flags))
        return self.enterContext(remote_calls.Remote(address))

    def log(self):
        return (self.folder / "server.log").read_text(encoding="utf-8")

    def await_line(self, *parts):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not any(all(part in text for part in parts) for text in self.log().splitlines()):
            self.assertLess(time.monotonic(), deadline, f"no line with {parts} in the log:\n{self.log()}")
            time.sleep(0.05)

    def reflect(self, remote, *metadata):
        call = remote.channel.stream_stream(f"/{REFLECTION}/ServerReflectionInfo")
        try:
            return list(call(iter([field(7, "")]), timeout=remote_calls.TIMEOUT_SECONDS, metadata=metadata)) and "OK"
        except remote_calls.grpc.RpcError as error:
            return error.code().name

    def codes(self, remote, *metadata):
        """Of a call of each kind."""
        return {
            "discover": remote.call("GetServerInfo", b"", *metadata).code,
            "execute": remote.call("Execute", remote_calls.execute_request(), *metadata).code,
            "session": remote.session(metadata=metadata),
            "observe": remote.call("GetStatistics", b"", *metadata).code,
        }


class Refusals(TokensTest):
    def test_each_role_lets_its_methods_in_and_no_others(self):
        roles = ALL.split(",")
        remote = self.serve(*[line(f"only-{role}", role, f"token-{role}") for role in roles])
        for role in roles:
            with self.subTest(role):
                wanted = {other: "OK" if other == role else "PERMISSION_DENIED" for other in roles}
                self.assertEqual(self.codes(remote, bearer(f"token-{role}")), wanted)
        call = field(1, remote_calls.call_of("SmoothL1LossBackward"))
        for method, request, role in (("ListOperators", b"", "discover"), ("ListDevices", b"", "discover"),
                                      ("GetWorkspaceSize", call, "discover"), ("ExecuteBatch", b"", "execute")):
            with self.subTest(method):
                self.assertEqual(remote.call(method, request, bearer(f"token-{role}")).code, "OK")
                other = "session"
                self.assertEqual(remote.call(method, request, bearer(f"token-{other}")).code, "PERMISSION_DENIED")
        self.assertEqual(self.reflect(remote, bearer("token-discover")), "OK")
        self.assertEqual(self.reflect(remote, bearer("token-execute")), "PERMISSION_DENIED")

    def test_the_open_inference_protocol_goes_by_the_same_roles(self):
        remote = self.serve(*[line(f"only-{role}", role, f"token-{role}") for role in ALL.split(",")])
        unknown_model = field(1, "Nope")
        for method, request, role, admitted in (("ServerLive", b"", "discover", "OK"),
                                                ("SystemSharedMemoryStatus", b"", "discover", "OK"),
                                                ("SystemSharedMemoryRegister", b"", "execute", "UNIMPLEMENTED"),
                                                ("SystemSharedMemoryUnregister", b"", "execute", "OK"),
                                                ("RepositoryIndex", b"", "discover", "OK"),
                                                ("ModelStatistics", b"", "observe", "OK"),
                                                ("ModelInfer", unknown_model, "execute", "NOT_FOUND")):
            for asking in ALL.split(","):
                with self.subTest(method, asking=asking):
                    wanted = admitted if asking == role else "PERMISSION_DENIED"
                    self.assertEqual(self.infer(remote, method, request, bearer(f"token-{asking}")), wanted)
            self.assertEqual(self.infer(remote, method, request), "UNAUTHENTICATED")

    def test_calls_by_http_go_by_the_same_roles(self):
        self.serve(*[line(f"only-{role}", role, f"token-{role}") for role in ALL.split(",")], flags=("--http", "0"))
        base = (self.folder / "address").read_text(encoding="utf-8").split()[-1]
        for path, body, role in (("/v2", None, "discover"), ("/v2/models/Relu", None, "discover"),
                                 ("/v2/models/Relu/stats", None, "observe"), ("/v2/models/Nope/infer", b"{}", "execute")):
            admitted = 200 if body is None else 400
            for asking in ALL.split(","):
                with self.subTest(path, asking=asking):
                    wanted = admitted if asking == role else 403
                    self.assertEqual(self.http_status(base + path, body, f"token-{asking}"), wanted)
            self.assertEqual(self.http_status(base + path, body, None), 401)
            self.assertEqual(self.http_status(base + path, body, "wrong"), 401)
        for path in ("/v2/health/live", "/v2/health/ready", "/livez"):
            self.assertEqual(self.http_status(base + path, None, None), 200)
        self.await_line("access refused", "role=discover")

    def http_status(self, url, body, token):
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        try:
            asked = urllib.request.Request(url, body, headers)
            with urllib.request.urlopen(asked, timeout=remote_calls.TIMEOUT_SECONDS) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def infer(self, remote, method, request, *metadata):
        call = remote.channel.unary_unary(f"/inference.GRPCInferenceService/{method}")
        try:
            call(request, timeout=remote_calls.TIMEOUT_SECONDS, metadata=metadata)
            return "OK"
        except remote_calls.grpc.RpcError as error:
            return error.code().name

    def test_who_has_no_token_that_is_known_is_unknown(self):
        remote = self.serve(line("somebody", ALL, "right"))
        unknown = dict.fromkeys(ALL.split(","), "UNAUTHENTICATED")
        for what, metadata in (("none", ()), ("wrong", (bearer("wrong"),)), ("empty", (bearer(""),)),
                               ("the hash", (bearer(hashlib.sha256(b"right").hexdigest()),)),
                               ("a part", (bearer("righ"),)), ("more", (bearer("right "),)),
                               ("basic", (("authorization", "Basic right"),)), ("bare", (("authorization", "right"),)),
                               ("two", (bearer("right"), bearer("right")))):
            with self.subTest(what):
                self.assertEqual(self.codes(remote, *metadata), unknown)
                self.assertEqual(self.reflect(remote, *metadata), "UNAUTHENTICATED")
        self.assertEqual(set(self.codes(remote, ("authorization", "bearer right")).values()), {"OK"})

    def test_health_checks_are_open(self):
        remote = self.serve(line("somebody", "execute", "right"))
        self.assertEqual(remote.call("Check", b"", service=HEALTH).code, "OK")

    def test_what_a_refusal_tells_and_leaves(self):
        remote = self.serve(line("trainer", "discover,observe", "right"), flags=("--http", "0"))
        ended = remote.call("Execute", remote_calls.execute_request(elements=1 << 18), bearer("secret-of-mine"))
        self.assertEqual(info_of(ended), ("UNAUTHENTICATED", {
            "parameter": "authorization", "got": "another token",
            "want": "'Bearer ' and a token that the server knows (--token-file)"}))
        ended = remote.call("Execute", remote_calls.execute_request(), bearer("right"))
        self.assertEqual(info_of(ended), ("PERMISSION_DENIED", {
            "parameter": "authorization", "got": "that of trainer, which has discover,observe",
            "want": "a token with the role execute"}))
        self.await_line("access refused", "peer=127.0.0.1", "role=execute", "got another token")
        self.await_line("access refused", "role=execute", "that of trainer")
        for _ in range(200):
            self.assertEqual(remote.call("Execute", b"").code, "UNAUTHENTICATED")
        self.assertLess(self.log().count("access refused"), 100)
        statistics = remote.call("GetStatistics", b"", bearer("right"))
        self.assertIn(b"UNAUTHENTICATED", statistics.response)
        self.assertIn(b"PERMISSION_DENIED", statistics.response)
        for text in ("secret-of-mine", "right"):
            self.assertNotIn(text, self.log())

    def test_unknown_clients_hold_nothing(self):
        remote = self.serve(line("somebody", ALL, "right"), flags=("--max-sessions", "1"))
        for _ in range(5):
            self.assertEqual(remote.session(), "UNAUTHENTICATED")
        self.assertEqual(remote.session(metadata=(bearer("right"),)), "OK")


class Shares(TokensTest):
    def test_a_share_is_a_token_s_and_not_an_address_s(self):
        remote = self.serve(line("greedy", ALL, "one"), line("greedy", ALL, "another"), line("modest", ALL, "third"),
                            flags=("--max-sessions", "4", "--client-share", "50%"))
        held = [self.hold_session(remote, token) for token in ("one", "another")]
        for token in ("one", "another"):
            self.assertEqual(remote.session(metadata=(bearer(token),)), "RESOURCE_EXHAUSTED")
        # From the same address, by the same connection.
        held.append(self.hold_session(remote, "third"))
        self.assertEqual(remote.session(metadata=(bearer("third"),)), "RESOURCE_EXHAUSTED")

    def test_memory_is_charged_to_the_token(self):
        remote = self.serve(line("greedy", ALL, "one"), line("modest", ALL, "third"),
                            flags=("--memory-limit", "64MiB", "--client-share", "50%"))
        greedy, modest = self.hold_session(remote, "one"), self.hold_session(remote, "third")
        self.assertIsNone(self.error_of_allocation(greedy, 30))
        self.assertIn(b"RESOURCE_LIMIT", self.error_of_allocation(greedy, 31))
        self.assertIsNone(self.error_of_allocation(modest, 16))

    def test_batches_are_charged_to_the_token(self):
        remote = self.serve(line("greedy", ALL, "one"), line("modest", ALL, "third"),
                            flags=("--memory-limit", "64MiB", "--client-share", "50%", "--max-queue-wait", "60s"))
        batch = remote.channel.unary_unary("/opserve.v1.OperatorService/ExecuteBatch")
        greedy = batch.future(self.product(2600, 128), timeout=remote_calls.TIMEOUT_SECONDS, metadata=(bearer("one"),))
        beside = 0
        while not greedy.done():  # 28 MiB are in flight: with 8 more too many for one client, not for two
            modest = remote.call("ExecuteBatch", remote_calls.execute_request(elements=1 << 19), bearer("third"))
            self.assertIsNone(first(modest.response, 1, 2))
            beside += 1
        self.assertGreater(beside, 0)

    def product(self, rows, columns):
        """A batch of one call: a matrix times one of its transposed shape."""
        call = field(1, "Matmul")
        for index, (name, shape) in enumerate((("self", [rows, columns]), ("mat2", [columns, rows]))):
            call += field(2, field(1, name) + field(2, remote_calls.FLOAT32) + packed(3, shape) + field(6, index))
        return field(1, call) + field(15, bytes(4 * rows * columns)) * 2

    def error_of_allocation(self, session, mebibytes):
        requests, answers = session
        allocate = field(1, mebibytes) + field(2, 1) + field(3, mebibytes << 20)
        requests.put(field(1, field(1, mebibytes) + field(15, allocate)))
        return first(next(answers), 1, 3)

    def hold_session(self, remote, token):
        """Opens a session with the context 1, which stays as long as what this gives: the queue of its messages, and its answers."""
        requests = queue.SimpleQueue()
        call = remote.channel.stream_stream("/opserve.v1.SessionService/Session")
        answers = call(iter(requests.get, None), timeout=remote_calls.TIMEOUT_SECONDS, metadata=(bearer(token),))
        self.addCleanup(requests.put, None)
        self.assertIsNotNone(first(next(answers), 1, 5))
        requests.put(field(1, field(1, 1) + field(3, field(1, 1))))
        self.assertIsNone(first(next(answers), 1, 3))
        return requests, answers


class Changes(TokensTest):
    def test_tokens_change_under_load_without_an_error(self):
        remote = self.serve(line("old", ALL, "first"))
        codes, over = [], threading.Event()

        def keep_calling():
            while not over.is_set():
                codes.append(remote.call("Execute", remote_calls.execute_request(), bearer("first")).code)

        caller = threading.Thread(target=keep_calling)
        self.addCleanup(caller.join)
        self.addCleanup(over.set)
        caller.start()
        self.replace(line("old", ALL, "first") + line("new", ALL, "second"))
        self.await_code(remote, "second", "OK")
        # A file that cannot be read changes nothing.
        self.replace("two words\n")
        self.await_line("tokens not taken", "in line 1 name role")
        self.assertEqual(remote.call("Execute", remote_calls.execute_request(), bearer("second")).code, "OK")
        self.tokens.unlink()
        self.await_line("tokens not taken", "No such file")
        over.set()
        caller.join()
        self.assertEqual(set(codes), {"OK"})
        self.replace(line("new", ALL, "second"))
        self.await_code(remote, "first", "UNAUTHENTICATED")
        self.assertEqual(remote.call("Execute", remote_calls.execute_request(), bearer("second")).code, "OK")

    def await_code(self, remote, token, code):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while remote.call("Execute", remote_calls.execute_request(), bearer(token)).code != code:
            self.assertLess(time.monotonic(), deadline, f"{token} does not come to be {code}")
            time.sleep(0.05)

    def replace(self, text):
        fresh = self.folder / "tokens.new"
        fresh.write_text(text, encoding="ascii")
        fresh.rename(self.tokens)

    def test_files_that_do_not_do(self):
        secret = "a-token-in-its-place"
        for text, part in (("", "--token-file: want one token at least, got none"),
                           (f"somebody execute {secret}\n", "want in line 1 sha256: and the 64 hexadecimal digits"),
                           (f"# comment\n\nsomebody admin sha256:{'0' * 64}\n", "want in line 3 of the roles discover, execute"),
                           (line("a", "execute", "x") + line("b", "execute", "x"), "want in line 2 a token that no line before it has")):
            with self.subTest(part):
                self.tokens.write_text(text, encoding="ascii")
                self.check_refused(part, "--token-file", self.tokens)
                self.assertNotIn(secret, self.check_refused("", "--token-file", self.tokens))
        self.check_refused("No such file", "--token-file", self.folder / "none")
        self.tokens.write_text(line("a", "execute", "x"), encoding="ascii")
        self.check_refused("--channelz: want no --token-file", "--channelz", "--token-file", self.tokens)

    def check_refused(self, part, *flags):
        command = [running_server.bin_folder() / "opserve-server", "--listen", "localhost:0", *flags]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS)
        self.assertIn(ended.returncode, (1, 2), ended.stderr)
        self.assertIn(part, ended.stderr)
        return ended.stderr


if __name__ == "__main__":
    unittest.main(verbosity=2)
