"""gRPC by hand over one TCP connection, so that a client may break off anywhere: in a frame, in a message, between the
end of a request and its answer. One call a connection."""

import socket
import struct
import time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1
INITIAL_WINDOW_SIZE, CANCEL = 4, 8
FRAME_BYTES = 16384
STREAM = 1


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def framed(message):
    """As gRPC frames it."""
    return b"\0" + struct.pack(">I", len(message)) + message


def literal(name, value):
    """A header that no table knows and none keeps."""
    return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


class Broken(Exception):
    """The server ended the connection or the call."""


class RawConnection:
    def __init__(self, address, timeout=60.0):
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout)
        self._received = b""
        self._windows = {0: 65535, STREAM: 65535}
        self.ended = False  # the answer is whole
        self.header_blocks = []  # as they came: HPACK
        self._socket.sendall(PREFACE + frame(SETTINGS, 0, 0))

    def begin(self, method, grpc_timeout=None, metadata=()):
        headers = [(":method", "POST"), (":scheme", "http"), (":path", f"/opserve.v1.OperatorService/{method}"),
                   (":authority", "localhost"), ("content-type", "application/grpc"), ("te", "trailers")]
        if grpc_timeout is not None:
            headers.append(("grpc-timeout", grpc_timeout))
        block = b"".join(literal(name, value) for name, value in (*headers, *metadata))
        self._socket.sendall(frame(HEADERS, END_HEADERS, STREAM, block))

    def send(self, message, count):
        """The first `count` bytes of the message as gRPC frames it, and its end when that is all of it."""
        everything = framed(message)
        rest = memoryview(everything)[:count]
        while len(rest) > 0:
            size = min(FRAME_BYTES, len(rest), *self._windows.values())
            if size <= 0:
                self._read_frame()
                continue
            for stream in self._windows:
                self._windows[stream] -= size
            self._socket.sendall(frame(DATA, 0, STREAM, bytes(rest[:size])))
            rest = rest[size:]
        if count >= len(everything):
            self._socket.sendall(frame(DATA, END_STREAM, STREAM))

    def send_bytes(self, some):
        self._socket.sendall(some)

    def cancel(self):
        self._socket.sendall(frame(RST_STREAM, 0, STREAM, struct.pack(">I", CANCEL)))

    def await_end(self, seconds):
        """Reads until the answer is whole, or for so long."""
        until = time.monotonic() + seconds
        while not self.ended and time.monotonic() < until:
            self._socket.settimeout(max(until - time.monotonic(), 0.001))
            try:
                self._read_frame()
            except TimeoutError:
                return

    def vanish(self):
        """Resets the connection: what is under way is lost."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()

    def close(self):
        self._socket.close()

    def _read(self, count):
        while len(self._received) < count:
            more = self._socket.recv(1 << 16)
            if not more:
                raise Broken("the connection ended")
            self._received += more
        taken, self._received = self._received[:count], self._received[count:]
        return taken

    def _read_frame(self):
        header = self._read(9)
        length = int.from_bytes(header[:3], "big")
        kind, flags, stream = header[3], header[4], int.from_bytes(header[5:9], "big")
        payload = self._read(length)
        if kind == SETTINGS and not flags & ACK:
            self._adopt(payload)
            self._socket.sendall(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            self._socket.sendall(frame(PING, ACK, 0, payload))
        elif kind == WINDOW_UPDATE:
            self._windows[stream] += int.from_bytes(payload, "big")
        elif kind in (RST_STREAM, GOAWAY):
            raise Broken("the server ended the call")
        if kind == HEADERS:
            self.header_blocks.append(payload)
        if kind in (DATA, HEADERS) and flags & END_STREAM:
            self.ended = True

    def _adopt(self, settings):
        for at in range(0, len(settings), 6):
            name, value = struct.unpack(">HI", settings[at:at + 6])
            if name == INITIAL_WINDOW_SIZE:
                self._windows[STREAM] += value - 65535
