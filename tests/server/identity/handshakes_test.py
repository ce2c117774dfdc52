"""Clients that begin a TLS handshake and never end it, and floods inside of TLS: bounded as they are without.

Usage: handshakes_test.py [unittest's arguments]
"""

import pathlib
import socket
import ssl
import struct
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import tls_test  # noqa: E402

sys.path.insert(0, str(tls_test.ROOT / "tests/server/program"))
import raw_connection as raw  # noqa: E402

MOST_OF_PEER = 8
# The server's bound is ten seconds.
HANDSHAKE_SECONDS = 15
ALERT = bytes.fromhex("15030300020250")
# The beginning of a ClientHello that never goes on.
HALF_HELLO = bytes.fromhex("1603010200010001fc0303")


def connect(address, source="127.0.0.1"):
    host, port = address.rsplit(":", 1)
    connection = socket.create_connection(("127.0.0.1", int(port)), 30, (source, 0))
    connection.settimeout(30)
    return connection


def seconds_to_end(connection):
    """Until the server closes it."""
    start = time.monotonic()
    try:
        while connection.recv(4096):
            pass
    except ConnectionError:
        pass
    return time.monotonic() - start


class Unfinished(tls_test.TlsTest):
    def test_they_are_few_and_end_soon_and_others_are_served(self):
        address = self.serve("--max-connections-per-peer", str(MOST_OF_PEER))
        connections = [self.enterContext(connect(address, "127.0.0.2")) for _ in range(MOST_OF_PEER)]
        for number, connection in enumerate(connections):
            connection.sendall(HALF_HELLO[: number % len(HALF_HELLO)])
        # One more is told at once, in TLS's words.
        with connect(address, "127.0.0.2") as refused:
            self.assertEqual(refused.recv(4096), ALERT)
        self.await_line("connection refused", "peer=127.0.0.2", "--max-connections-per-peer")
        self.assertEqual(self.code_of(address), "OK")
        start = time.monotonic()
        for connection in connections:
            seconds_to_end(connection)
        self.assertLess(time.monotonic() - start, HANDSHAKE_SECONDS)
        # Their places are free again.
        deadline = time.monotonic() + 10
        while True:
            with connect(address, "127.0.0.2") as again:
                again.settimeout(0.3)
                try:
                    got = again.recv(4096)
                except TimeoutError:
                    break
            self.assertLess(time.monotonic(), deadline, f"still refused: {got}")

    def test_one_that_sends_what_is_no_tls_is_closed(self):
        address = self.serve()
        with connect(address) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertLess(seconds_to_end(connection), HANDSHAKE_SECONDS)

    def test_one_that_does_not_want_http2_is_closed(self):
        host, port = self.serve().rsplit(":", 1)
        context = ssl.create_default_context(cafile=self.authority.certificate)
        with socket.create_connection((host, int(port)), 30) as plain, context.wrap_socket(plain, server_hostname=host) as secure:
            try:
                secure.sendall(raw.PREFACE)
                self.assertEqual(secure.recv(4096), b"")
            except (ConnectionError, ssl.SSLError):
                pass


class Floods(tls_test.TlsTest):
    def test_rapid_resets_are_cut_inside_of_tls(self):
        """What comes is told by gRPC's own counters, so it does not matter that the server cannot read the frames."""
        host, port = self.serve("--max-resets-per-second", "10").rsplit(":", 1)
        context = ssl.create_default_context(cafile=self.authority.certificate)
        context.set_alpn_protocols(["h2"])
        with socket.create_connection((host, int(port)), 30) as plain, context.wrap_socket(plain, server_hostname=host) as secure:
            secure.sendall(raw.PREFACE + raw.frame(raw.SETTINGS, 0, 0))
            block = b"".join(raw.literal(*header) for header in (
                (":method", "POST"), (":scheme", "https"), (":path", "/opserve.v1.OperatorService/Execute"), (":authority", "x"),
                ("content-type", "application/grpc"), ("te", "trailers")))
            secure.setblocking(False)
            self.flood(secure, block)
        self.await_line("connection cut", "taken back")

    def has_ended(self, secure):
        """What was sent last may lie here for a minute: the system reads no more of a connection that was closed."""
        try:
            return secure.recv(1 << 16) == b""
        except ssl.SSLWantReadError:
            return False
        except (ConnectionError, ssl.SSLError):
            return True

    def flood(self, secure, block):
        """Until the connection is cut."""
        cancel, deadline = struct.pack(">I", raw.CANCEL), time.monotonic() + 30
        for stream in range(1, 1 << 30, 2):
            frames = raw.frame(raw.HEADERS, raw.END_HEADERS, stream, block) + raw.frame(raw.RST_STREAM, 0, stream, cancel)
            while frames:
                self.assertLess(time.monotonic(), deadline, "the flood goes on")
                try:
                    frames = frames[secure.send(frames):]
                except ssl.SSLWantWriteError:
                    time.sleep(0.001)
                    if self.has_ended(secure):
                        return
                except ssl.SSLWantReadError:
                    secure.recv(1 << 16)
                except (ConnectionError, ssl.SSLError):
                    return


if __name__ == "__main__":
    unittest.main(verbosity=2)
