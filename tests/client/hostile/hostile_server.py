"""A gRPC server by hand, frame by frame, that can say anything to its clients: what no gRPC library would send, too."""

import collections
import contextlib
import os
import socket
import struct
import tempfile
import threading

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 5, 6, 7, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1
HEADER_TABLE_SIZE, INITIAL_WINDOW_SIZE = 1, 4
FRAME_BYTES = 16384
SERVICE = b"/opserve.v1."
MOST_UNREAD_BYTES = 1 << 30  # windows that we give


class Gone(Exception):
    """The client ended the connection or the call."""


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def framed(message, compressed=0):
    """As gRPC frames it."""
    return bytes([compressed]) + struct.pack(">I", len(message)) + message


def prefixed(number, bits):
    """HPACK's integer behind a prefix of so many bits, which are 0."""
    most = (1 << bits) - 1
    if number < most:
        return bytes([number])
    out = bytearray([most])
    number -= most
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def literal(name, value):
    """A header that no table knows and none keeps."""
    text = [part if isinstance(part, bytes) else part.encode() for part in (name, value)]
    return b"\0" + b"".join(prefixed(len(part), 7) + part for part in text)


def block(*headers):
    return b"".join(literal(name, value) for name, value in headers)


class Connection:
    """One client. Calls are taken in the order in which they begin."""

    def __init__(self, client):
        self._socket = client
        self._received = b""
        self._windows = collections.defaultdict(lambda: self._first_window)
        self._windows[0] = 65535
        self._first_window = 65535
        self._calls = collections.deque()
        self._open = {}  # calls by stream

    def start(self):
        """Ours: no table of headers, so that paths can be read, and windows that are never used up."""
        if self.read(len(PREFACE)) != PREFACE:
            raise Gone("no HTTP/2")
        settings = struct.pack(">HIHI", HEADER_TABLE_SIZE, 0, INITIAL_WINDOW_SIZE, MOST_UNREAD_BYTES)
        self.send(frame(SETTINGS, 0, 0, settings) + frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", MOST_UNREAD_BYTES)))
        return self

    def send(self, some):
        try:
            self._socket.sendall(some)
        except OSError as error:
            raise Gone(str(error)) from error

    def read(self, count):
        while len(self._received) < count:
            try:
                more = self._socket.recv(1 << 16)
            except OSError as error:
                raise Gone(str(error)) from error
            if not more:
                raise Gone("the connection ended")
            self._received += more
        taken, self._received = self._received[:count], self._received[count:]
        return taken

    def next_call(self):
        while not self._calls:
            self.read_frame()
        return self._calls.popleft()

    def send_data(self, stream, some, flags=0):
        """As the windows allow."""
        rest = memoryview(some)
        while True:
            size = min(FRAME_BYTES, len(rest), self._windows[0], self._windows[stream])
            if len(rest) > 0 and size <= 0:
                self.read_frame()
                continue
            for window in (0, stream):
                self._windows[window] -= size
            last = size == len(rest)
            self.send(frame(DATA, flags if last else 0, stream, bytes(rest[:size])))
            rest = rest[size:]
            if last:
                return

    def send_raw_data(self, stream, frames, count):
        """Frames that hold `count` bytes of data, together."""
        while min(self._windows[0], self._windows[stream]) < count:
            self.read_frame()
        for window in (0, stream):
            self._windows[window] -= count
        self.send(frames)

    def read_frame(self):
        header = self.read(9)
        kind, flags, stream = header[3], header[4], int.from_bytes(header[5:9], "big")
        payload = self.read(int.from_bytes(header[:3], "big"))
        if kind == HEADERS:
            call = Call(self, stream, payload)
            self._open[stream] = call
            self._calls.append(call)
        if kind in (DATA, HEADERS) and stream in self._open:
            self._open[stream].receive(payload if kind == DATA else b"", flags & END_STREAM)
        elif kind == RST_STREAM and stream in self._open:
            self._open[stream].gone = True
        elif kind == SETTINGS and not flags & ACK:
            self._adopt(payload)
            self.send(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            self.send(frame(PING, ACK, 0, payload))
        elif kind == WINDOW_UPDATE:
            self._windows[stream] += int.from_bytes(payload, "big")

    def _adopt(self, settings):
        for at in range(0, len(settings), 6):
            name, value = struct.unpack(">HI", settings[at:at + 6])
            if name == INITIAL_WINDOW_SIZE:
                for stream in self._windows:
                    self._windows[stream] += value - self._first_window if stream else 0
                self._first_window = value


class Call:
    """One RPC."""

    def __init__(self, connection, stream, headers):
        self.connection = connection
        self.stream = stream
        self.gone = False
        start = headers.find(SERVICE)  # the byte before is its length
        path = headers[start:start + headers[start - 1]] if start > 0 else b""
        self.method = path.decode().rpartition("/")[2]
        self._bytes = b""
        self._whole = False

    def receive(self, some, ends):
        self._bytes += some
        self._whole = self._whole or bool(ends)

    def messages(self):
        """The client's, until it half-closes."""
        while True:
            while len(self._bytes) >= 5:
                end = 5 + int.from_bytes(self._bytes[1:5], "big")
                if len(self._bytes) < end:
                    break
                message, self._bytes = self._bytes[5:end], self._bytes[end:]
                yield message
            if self._whole:
                return
            self.wait()

    def wait(self):
        if self.gone:
            raise Gone("the client cancelled")
        self.connection.read_frame()

    def headers(self, *more):
        self.connection.send(frame(HEADERS, END_HEADERS, self.stream,
                                   block((":status", "200"), ("content-type", "application/grpc"), *more)))

    def message(self, message, compressed=0):
        self.connection.send_data(self.stream, framed(message, compressed))

    def end(self, code=0, text="", *more):
        self.connection.send(frame(HEADERS, END_HEADERS | END_STREAM, self.stream,
                                   block(("grpc-status", str(code)), ("grpc-message", text), *more)))

    def answer(self, message):
        """A unary call's."""
        self.headers()
        self.message(message)
        self.end()

    def fail(self, code, text="", *more):
        """Trailers alone."""
        self.connection.send(frame(HEADERS, END_HEADERS | END_STREAM, self.stream,
                                   block((":status", "200"), ("content-type", "application/grpc"),
                                         ("grpc-status", str(code)), ("grpc-message", text), *more)))


def _close(client):
    with contextlib.suppress(OSError):
        client.shutdown(socket.SHUT_RDWR)
    client.close()


@contextlib.contextmanager
def hostile_server(meet, unix=False):
    """Calls meet(socket) with each client, on a thread of its own, while the block runs; gives the target."""
    folder = tempfile.TemporaryDirectory() if unix else contextlib.nullcontext()
    with folder as path:
        listener = socket.socket(socket.AF_UNIX if unix else socket.AF_INET, socket.SOCK_STREAM)
        listener.bind(os.path.join(path, "socket") if unix else ("127.0.0.1", 0))
        listener.listen(16)
        address = listener.getsockname()
        clients = []

        def talk(client):
            with contextlib.suppress(Gone, OSError):
                meet(client)
            _close(client)

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    clients.append(client)
                    threading.Thread(target=talk, args=(client,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield f"unix:{address}" if unix else f"127.0.0.1:{address[1]}"
        finally:
            _close(listener)
            for client in clients:
                _close(client)
