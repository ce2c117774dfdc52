"""gRPC's channelz: served where it was asked for, and where no stranger can ask it."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import remote_calls  # noqa: E402

import running_server  # noqa: E402
from protobuf_wire import fields, first  # noqa: E402

SERVICE = "grpc.channelz.v1.Channelz"
TIMEOUT_SECONDS = 60


class Channelz(unittest.TestCase):
    def serve(self, *flags):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        address = self.enterContext(running_server.running_server(folder, *flags))
        return self.enterContext(remote_calls.Remote(address))

    def test_it_is_off(self):
        self.assertEqual(self.serve().call("GetServers", b"", service=SERVICE).code, "UNIMPLEMENTED")

    def test_it_tells_of_the_servers_calls(self):
        remote = self.serve("--channelz")
        for _ in range(3):
            self.assertEqual(remote.call("Execute", remote_calls.execute_request()).code, "OK")
        answer = remote.call("GetServers", b"", service=SERVICE)
        self.assertEqual(answer.code, "OK")
        servers = fields(answer.response)[1]
        self.assertEqual(len(servers), 1)
        self.assertGreaterEqual(first(servers[0], 2, 2), 4)  # data.calls_started

    def test_it_is_refused_where_others_could_ask(self):
        command = [running_server.bin_folder() / "opserve-server", "--channelz", "--listen", "0.0.0.0:0"]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("--channelz: want every --listen a loopback address or a unix socket", ended.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
