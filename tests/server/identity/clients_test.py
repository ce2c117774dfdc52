"""The opserve command and the Python package with TLS and tokens, and what they say where these do not do.

Usage: clients_test.py [unittest's arguments]
"""

import os
import pathlib
import socket
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import tls_test  # noqa: E402

import certificates  # noqa: E402
import running_server  # noqa: E402

USAGE, UNREACHABLE = 2, 3


def opserve(*words, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPSERVE_")}
    environment["LSAN_OPTIONS"] = os.environ.get("LSAN_OPTIONS", "")
    command = [running_server.bin_folder() / "opserve", *map(str, words)]
    environment |= {name: str(value) for name, value in variables.items()}
    for _ in range(2):
        ended = subprocess.run(command, capture_output=True, text=True, check=False, env=environment,
                               timeout=tls_test.PATIENCE_SECONDS)
        # gRPC 1.51 now and then takes another thread's errno for that of a connection under way.
        if "connect" not in ended.stderr or "No such file or directory" not in ended.stderr:
            break
    return ended


class ClientTest(tls_test.TlsTest):
    def expect_fails(self, ended, status, *parts):
        self.assertEqual(ended.returncode, status, ended.stderr)
        for part in parts:
            self.assertIn(part, ended.stderr)
        self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)


class Command(ClientTest):
    def test_it_speaks_tls(self):
        address = self.serve()
        root = self.authority.certificate
        ended = opserve("info", "--target", address, "--tls", "--cacert", root)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        ended = opserve("info", OPSERVE_TARGET=address, OPSERVE_TLS=1, OPSERVE_CACERT=root)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        # On its streams, too, and by other connections than the library's.
        call = ("L1Loss", "-i", "self=f32[4]{1,2,3,4}", "-i", "target=f32[4]=1", "-a", "reduction=mean")
        ended = opserve("run", *call, "--session", "--target", address, "--cacert", root)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        bench = ("bench", "L1Loss", "--shape", "64", "--concurrency", "2", "--duration", "200ms", "--warm-up", "0s")
        ended = opserve(*bench, "--target", address, "--cacert", root)
        self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_it_says_that_a_certificate_is_not_trusted(self):
        address = self.serve()
        other = certificates.Authority(self.folder, "other")
        self.expect_fails(opserve("info", "--target", address, "--cacert", other.certificate), UNREACHABLE,
                          f"{address}: the server's certificate is not trusted: another CA signed it, or it has expired")
        self.expect_fails(opserve("info", "--target", address, "--tls"), UNREACHABLE, "is not trusted")
        self.expect_fails(opserve("info", "--target", address, "--cacert", self.authority.certificate, "--server-name", "elsewhere"),
                          UNREACHABLE, "the server's certificate is for another name")

    def test_it_trusts_a_certificate_by_another_name(self):
        ended = opserve("info", "--target", self.serve(), "--cacert", self.authority.certificate, "--server-name", "localhost")
        self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_it_shows_a_certificate(self):
        address = self.serve("--tls-client-ca", self.authority.certificate)
        mine = self.authority.issue("mine")
        to = ("info", "--target", address, "--cacert", self.authority.certificate)
        ended = opserve(*to, "--cert", mine.certificate, "--key", mine.key)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        stranger = certificates.Authority(self.folder, "other").issue()
        old = self.authority.issue(expired=True)
        refused = "the server ended the handshake: it may want a client certificate, or another one"
        for pair in ((), ("--cert", stranger.certificate, "--key", stranger.key), ("--cert", old.certificate, "--key", old.key)):
            with self.subTest(pair):
                self.expect_fails(opserve(*to, *pair), UNREACHABLE, refused)

    def test_it_says_that_the_server_does_not_speak_tls(self):
        with running_server.running_server(self.folder) as address:
            self.expect_fails(opserve("info", "--target", address, "--cacert", self.authority.certificate), UNREACHABLE,
                              "the server does not speak TLS there")


class Mistakes(ClientTest):
    def test_mistakes(self):
        token, empty = self.folder / "token", self.folder / "empty"
        token.write_text("a-token\n", encoding="ascii")
        empty.touch()
        to = ("info", "--target", "192.0.2.1:1")
        cert, key = self.pair.certificate, self.pair.key
        for words, parts in ((("--cert", cert), ("tls.key: want the key of tls.certificate",)),
                             (("--key", key), ("tls.certificate: want the certificate of tls.key",)),
                             (("--cacert", key), ("tls.root_ca: want certificates in PEM",)),
                             (("--cert", cert, "--key", cert), ("tls.key: want a private key in PEM",)),
                             (("--cacert", self.folder / "none"), ("none",)),
                             (("--cacert", empty), ("--cacert: want a file of 1 to 1048576 bytes",)),
                             (("--token-file", token), ("token: want TLS, a unix socket or a server on this machine",)),
                             (("--tls", "--token-file", cert), ("token: want letters, digits and -._~+/=",))):
            with self.subTest(words):
                ended = opserve(*to, *words)
                self.expect_fails(ended, USAGE, *parts)
                self.assertNotIn("BEGIN", ended.stderr)


class Silent(tls_test.TlsTest):
    def test_a_handshake_that_the_server_never_answers_ends_in_time(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            target = f"127.0.0.1:{silent.getsockname()[1]}"
            ended = opserve("info", "--target", target, "--cacert", self.authority.certificate, "--timeout", "1s")
        self.assertEqual(ended.returncode, UNREACHABLE, ended.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
