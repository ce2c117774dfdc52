"""opserve-server with TLS, seen from clients that it knows and others.

Usage: tls_test.py [unittest's arguments]
"""

import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tests/server/tracing")]

import certificates  # noqa: E402
import grpc  # noqa: E402
import remote_calls  # noqa: E402
import running_server  # noqa: E402

PATIENCE_SECONDS = 60


def end_of(pair):
    """Seconds since 1970."""
    told = certificates.openssl("x509", "-noout", "-enddate", "-in", pair.certificate)
    return ssl.cert_time_to_seconds(told.strip().removeprefix("notAfter="))


class TlsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="opserve-")))
        self.authority = certificates.Authority(self.folder)
        self.pair = self.authority.issue()

    def serve(self, *flags, pair=None):
        pair = pair or self.pair
        return self.enterContext(running_server.running_server(
            self.folder, "--tls-cert", pair.certificate, "--tls-key", pair.key, "--device", "cpu,threads=1", *flags))

    def remote(self, address, root=None, pair=None):
        key, chain = (pair.key.read_bytes(), pair.certificate.read_bytes()) if pair else (None, None)
        credentials = grpc.ssl_channel_credentials((root or self.authority.certificate).read_bytes(), key, chain)
        return self.enterContext(remote_calls.Remote(address, credentials))

    def code_of(self, address, **who):
        return self.remote(address, **who).call("GetServerInfo", b"").code

    def log(self):
        return (self.folder / "server.log").read_text(encoding="utf-8")

    def await_line(self, *parts):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not any(all(part in line for part in parts) for line in self.log().splitlines()):
            self.assertLess(time.monotonic(), deadline, f"no line with {parts} in the log:\n{self.log()}")
            time.sleep(0.05)


class Handshakes(TlsTest):
    def test_one_who_trusts_the_server_is_served(self):
        address = self.serve("--listen", f"unix:{self.folder}/socket")
        remote = self.remote(address)
        self.assertEqual(remote.call("Execute", remote_calls.execute_request()).code, "OK")
        # More than the server keeps unread or a connection may bring before its first message.
        self.assertEqual(remote.call("Execute", remote_calls.execute_request(elements=1 << 19)).code, "OK")
        # Who may open a unix socket its mode decides.
        plain = self.enterContext(remote_calls.Remote(f"unix:{self.folder}/socket"))
        self.assertEqual(plain.call("GetServerInfo", b"").code, "OK")

    def test_who_speaks_no_tls_is_not_served(self):
        plain = self.enterContext(remote_calls.Remote(self.serve()))
        self.assertEqual(plain.call("GetServerInfo", b"").code, "UNAVAILABLE")

    def test_one_who_trusts_another_authority_refuses(self):
        address = self.serve()
        other = certificates.Authority(self.folder, "other")
        self.assertEqual(self.code_of(address, root=other.certificate), "UNAVAILABLE")
        self.assertEqual(self.code_of(address), "OK")

    def test_clients_must_show_a_certificate_of_the_right_authority(self):
        address = self.serve("--tls-client-ca", self.authority.certificate)
        other = certificates.Authority(self.folder, "other")
        for what, pair in (("none", None), ("another's", other.issue()), ("an expired one", self.authority.issue(expired=True))):
            with self.subTest(what):
                self.assertEqual(self.code_of(address, pair=pair), "UNAVAILABLE")
        self.assertEqual(self.code_of(address, pair=self.authority.issue("somebody")), "OK")

    def test_old_versions_are_not_spoken(self):
        host, port = self.serve().rsplit(":", 1)
        context = ssl.create_default_context(cafile=self.authority.certificate)
        with socket.create_connection((host, int(port))) as raw, context.wrap_socket(raw, server_hostname=host) as secure:
            self.assertIn(secure.version(), ("TLSv1.2", "TLSv1.3"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that they are old is the point
            context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
        context.set_ciphers("ALL:@SECLEVEL=0")
        with socket.create_connection((host, int(port))) as raw, self.assertRaises((ssl.SSLError, OSError)):
            context.wrap_socket(raw, server_hostname=host)


class Starts(TlsTest):
    def check_refused(self, *parts, **files):
        words = [word for flag, path in files.items() for word in (f"--{flag.replace('_', '-')}", path)]
        command = [running_server.bin_folder() / "opserve-server", "--listen", "localhost:0", *words]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS)
        self.assertIn(ended.returncode, (1, 2), ended.stderr)
        for part in parts:
            self.assertIn(part, ended.stderr)

    def test_files_that_do_not_do(self):
        good, empty = self.pair, self.folder / "empty"
        empty.touch()
        self.check_refused("--tls-cert: want --tls-key, too", tls_cert=good.certificate)
        self.check_refused("--tls-key: want --tls-cert, too", tls_key=good.key)
        self.check_refused("--tls-client-ca: want --tls-cert, too", tls_client_ca=good.certificate)
        self.check_refused("--tls-key: want the key of --tls-cert's first certificate, got another",
                           tls_cert=good.certificate, tls_key=self.authority.issue().key)
        self.check_refused("--tls-cert: want certificates in PEM", tls_cert=good.key, tls_key=good.key)
        self.check_refused("--tls-key: want a private key in PEM", tls_cert=good.certificate, tls_key=good.certificate)
        self.check_refused("--tls-cert: want a file that can be read", "/none, which cannot: No such file",
                           tls_cert=self.folder / "none", tls_key=good.key)
        self.check_refused("it is no regular file", tls_cert=self.folder, tls_key=good.key)
        self.check_refused("--tls-client-ca: want certificates in PEM, got an empty file",
                           tls_cert=good.certificate, tls_key=good.key, tls_client_ca=empty)
        self.check_refused("--tls-client-ca: want certificates in PEM, got a file without any",
                           tls_cert=good.certificate, tls_key=good.key, tls_client_ca=good.key)

    def test_an_expired_certificate(self):
        old = self.authority.issue(expired=True)
        self.check_refused("--tls-cert: want certificates that have not expired, got one that expired on ",
                           tls_cert=old.certificate, tls_key=old.key)

    def test_a_key_with_a_pass_phrase(self):
        locked = self.folder / "locked.key"
        certificates.openssl("pkey", "-in", self.pair.key, "-aes256", "-passout", "pass:word", "-out", locked)
        self.check_refused("want a private key in PEM, without a pass phrase", tls_cert=self.pair.certificate, tls_key=locked)

    def test_tls_lets_other_machines_in(self):
        # No --insecure, and no warning.
        self.serve("--listen", "0.0.0.0:0")
        self.await_line("msg=serving")
        self.assertNotIn("without TLS", self.log())


class Rotation(TlsTest):
    def shown(self, address):
        host, port = address.rsplit(":", 1)
        return ssl.get_server_certificate((host, int(port)))

    def keep_calling(self, address, over, codes):
        while not over.is_set():
            with remote_calls.Remote(address, grpc.ssl_channel_credentials(self.authority.certificate.read_bytes())) as remote:
                codes.append(remote.call("Execute", remote_calls.execute_request()).code)

    def test_new_files_are_taken_under_load_without_an_error(self):
        live = certificates.Pair(self.folder / "live.pem", self.folder / "live.key")
        self.replace(live, self.pair)
        address = self.serve(pair=live)
        first, codes, over = self.shown(address), [], threading.Event()
        callers = [threading.Thread(target=self.keep_calling, args=(address, over, codes)) for _ in range(2)]
        for caller in callers:
            caller.start()
        fresh = self.authority.issue()
        self.replace_file(live.certificate, fresh.certificate)
        self.await_line("certificate not taken", "--tls-key: want the key of")
        self.assertEqual(self.shown(address), first)
        self.replace_file(live.key, fresh.key)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.shown(address) == first:
            self.assertLess(time.monotonic(), deadline, "the new certificate is not shown")
            time.sleep(0.05)
        self.assertEqual(self.shown(address).strip(), fresh.certificate.read_text(encoding="ascii").strip())
        before = len(codes)
        while len(codes) < before + 10 and time.monotonic() < deadline:
            time.sleep(0.05)
        over.set()
        for caller in callers:
            caller.join()
        self.assertEqual(set(codes), {"OK"})
        self.assertGreaterEqual(len(codes), before + 10)
        self.assertEqual(self.log().count("certificate not taken"), 1, "said more than once")

    def test_the_metric_says_when_the_certificate_in_use_expires(self):
        live = certificates.Pair(self.folder / "live.pem", self.folder / "live.key")
        self.replace(live, self.pair)
        self.serve("--http", "127.0.0.1:0", pair=live)
        url = (self.folder / "address").read_text(encoding="utf-8").split()[-1]
        self.assertEqual(self.expiration_at(url), end_of(self.pair))
        longer = self.authority.issue(days=60)
        self.replace(live, longer)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.expiration_at(url) != end_of(longer):
            self.assertLess(time.monotonic(), deadline, "the new certificate's end is not shown")
            time.sleep(0.05)

    def expiration_at(self, url):
        with urllib.request.urlopen(f"{url}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        name = "opserve_tls_certificate_expiration_timestamp_seconds "
        return [float(line.removeprefix(name)) for line in lines if line.startswith(name)][0]

    def test_the_clients_authority_can_change(self):
        live, other = self.folder / "clients.pem", certificates.Authority(self.folder, "other")
        shutil.copy(self.authority.certificate, live)
        address = self.serve("--tls-client-ca", live)
        stranger = other.issue("stranger")
        self.assertEqual(self.code_of(address, pair=stranger), "UNAVAILABLE")
        shutil.copy(other.certificate, live)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.code_of(address, pair=stranger) != "OK":
            self.assertLess(time.monotonic(), deadline, "the new authority's clients are not let in")
        self.assertEqual(self.code_of(address, pair=self.authority.issue("friend")), "UNAVAILABLE")

    def test_bad_files_change_nothing(self):
        live = certificates.Pair(self.folder / "live.pem", self.folder / "live.key")
        self.replace(live, self.pair)
        address = self.serve(pair=live)
        first = self.shown(address)
        self.replace(live, self.authority.issue(expired=True))
        self.await_line("certificate not taken", "want certificates that have not expired")
        live.certificate.unlink()
        self.await_line("certificate not taken", "No such file")
        self.assertEqual(self.shown(address), first)

    def replace(self, live, pair):
        for old, new in ((live.certificate, pair.certificate), (live.key, pair.key)):
            self.replace_file(old, new)

    @staticmethod
    def replace_file(old, new):
        """At once, so that a server never reads half of it."""
        shutil.copy(new, str(old) + ".new")
        pathlib.Path(str(old) + ".new").rename(old)


if __name__ == "__main__":
    unittest.main(verbosity=2)
