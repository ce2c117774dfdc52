"""gRPC by hand with many calls on one connection, and every freedom to do it wrongly."""

import dataclasses
import select
import socket
import struct
import time
from collections.abc import Callable, Iterable

import hpack

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, END_HEADERS, ACK = 1, 4, 1
HEADER_TABLE_SIZE, INITIAL_WINDOW_SIZE = 1, 4
CANCEL = 8
FRAME_BYTES = 16384
MOST_WINDOW = (1 << 31) - 1

OPERATORS = "/opserve.v1.OperatorService/"
SESSION = "/opserve.v1.SessionService/Session"
HEALTH_CHECK = "/grpc.health.v1.Health/Check"
HEALTH_WATCH = "/grpc.health.v1.Health/Watch"
INFERENCE = "/inference.GRPCInferenceService/"
REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"


def path_of(method: str) -> str:
    return method if method.startswith("/") else OPERATORS + method


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def framed(message: bytes, compressed: int = 0) -> bytes:
    """As gRPC frames it."""
    return struct.pack(">BI", compressed, len(message)) + message


def data_frames(stream: int, content: bytes, size: int = FRAME_BYTES) -> bytes:
    return b"".join(frame(DATA, 0, stream, content[i : i + size]) for i in range(0, len(content), size))


def settings(**values: int) -> bytes:
    """SETTINGS_<NAME> in lower case, or s<number>."""
    names = {
        "header_table_size": 1,
        "enable_push": 2,
        "max_concurrent_streams": 3,
        "initial_window_size": 4,
        "max_frame_size": 5,
        "max_header_list_size": 6,
    }
    pairs = [(names.get(name) or int(name[1:]), value) for name, value in values.items()]
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", number, value) for number, value in pairs))


def request_headers(method: str, timeout: str | None = None, extra: Iterable[tuple[str, str]] = ()) -> bytes:
    headers = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path_of(method)),
        (":authority", "localhost"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ]
    if timeout is not None:
        headers.append(("grpc-timeout", timeout))
    return b"".join(hpack.literal(name, value) for name, value in [*headers, *extra])


class Broken(Exception):
    """The server ended the connection."""


@dataclasses.dataclass
class Call:
    """One stream and what came on it."""

    stream: int
    window: int
    received: bytearray = dataclasses.field(default_factory=bytearray)
    messages: list[bytes] = dataclasses.field(default_factory=list)
    status: int | None = None  # of gRPC; -1 for a reset stream
    text: str = ""
    bytes_in: int = 0

    @property
    def ended(self) -> bool:
        return self.status is not None


class Connection:
    """`window`: bytes that the server may send on each stream, kept open unless `refill` is off. `sent`: called with
    the number of bytes that leave. With `reads` off nothing is read at all.
    """

    def __init__(
        self,
        address: str,
        source: str | None = None,
        window: int = 1 << 20,
        refill: bool = True,
        reads: bool = True,
        sent: Callable[[int], None] | None = None,
        timeout: float = 5.0,
        begins: bool = True,
    ):
        self._window, self._refill, self._reads, self._sent = window, refill, reads, sent
        self._received = b""
        self._out = bytearray()
        self._next_stream = 1
        self._connection_window, self._stream_window = 65535, 65535
        self._to_return = 0
        self.calls: dict[int, Call] = {}
        self.goaway = False
        self.pongs = 0
        self.socket = open_socket(address, source, timeout)
        self.socket.setblocking(False)
        if begins:
            self.send(
                PREFACE
                + settings(header_table_size=0, initial_window_size=window)
                + (frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", MOST_WINDOW - 65535)) if refill else b"")
            )

    def fileno(self) -> int:
        return self.socket.fileno()

    def close(self) -> None:
        self.socket.close()

    def vanish(self) -> None:
        """Resets the connection."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    # ---- out

    def send(self, content: bytes, wait: bool = True) -> None:
        """Any bytes. Answers are read meanwhile."""
        self._out += content
        self._flush()
        while wait and self._out:
            readable, writable, _ = select.select([self] if self._reads else [], [self], [], 1.0)
            if readable:
                self._read_some()
            if writable:
                self._flush()

    def next_stream(self) -> int:
        stream = self._next_stream
        self._next_stream += 2
        return stream

    def begin(
        self,
        method: str,
        timeout: str | None = None,
        extra: Iterable[tuple[str, str]] = (),
        wait: bool = True,
        half_close: bool = False,
    ) -> Call:
        call = Call(self.next_stream(), self._stream_window)
        self.calls[call.stream] = call
        flags = END_HEADERS | (END_STREAM if half_close else 0)
        self.send(frame(HEADERS, flags, call.stream, request_headers(method, timeout, extra)), wait)
        return call

    def write(
        self, call: Call, content: bytes, end: bool = False, frame_bytes: int = FRAME_BYTES, wait: bool = True
    ) -> None:
        """Bytes of a stream, as the server's windows allow. Without `wait` only what the windows have room for may
        come.
        """
        rest = memoryview(content)
        while len(rest) > 0 and not call.ended:
            size = min(frame_bytes, len(rest), call.window, self._connection_window)
            if size <= 0:
                if not wait:
                    raise Broken("the window is full")
                self.poll(0.2)
                continue
            call.window -= size
            self._connection_window -= size
            self._out += frame(DATA, 0, call.stream, bytes(rest[:size]))
            rest = rest[size:]
            if len(self._out) > 1 << 18:
                self.send(b"", wait)
        self.send(frame(DATA, END_STREAM, call.stream) if end else b"", wait)

    def take_window(self, call: Call, count: int) -> None:
        """Waits until the server would take so many bytes, which are then as good as sent."""
        while (call.window < count or self._connection_window < count) and not call.ended:
            self.poll(0.2)
        call.window -= count
        self._connection_window -= count

    def message(self, call: Call, message: bytes, end: bool = False, **how) -> None:
        self.write(call, framed(message), end, **how)

    def start(self, method: str, message: bytes, timeout: str | None = None, **how) -> Call:
        """A unary call that is not waited for."""
        call = self.begin(method, timeout)
        self.message(call, message, end=True, **how)
        return call

    def unary(self, method: str, message: bytes = b"", timeout: str | None = None, seconds: float = 10.0) -> Call:
        call = self.start(method, message, timeout)
        self.await_end(call, seconds)
        self.forget(call)
        return call

    def reset(self, call: Call, wait: bool = True) -> None:
        self.send(frame(RST_STREAM, 0, call.stream, struct.pack(">I", CANCEL)), wait)
        self.calls.pop(call.stream, None)

    def forget(self, call: Call, wait: bool = True) -> None:
        """Ends a call that has not ended, and keeps nothing of it."""
        if not call.ended:
            self.reset(call, wait)
        self.calls.pop(call.stream, None)

    # ---- in

    def await_end(self, call: Call, seconds: float) -> bool:
        return self.poll_until(lambda: call.ended, seconds)

    def poll_until(self, done: Callable[[], bool], seconds: float) -> bool:
        until = time.monotonic() + seconds
        while not done():
            left = until - time.monotonic()
            if left <= 0:
                return False
            self.poll(left)
        return True

    def poll(self, seconds: float) -> None:
        """Reads what comes within that time, once; writes what could not leave before."""
        readable, writable, _ = select.select([self], [self] if self._out else [], [], max(seconds, 0))
        if writable:
            self._flush()
        if readable:
            self._read_some()

    def _flush(self) -> None:
        if not self._out:
            return
        try:
            count = self.socket.send(self._out)
        except BlockingIOError:
            return
        except OSError as error:
            raise Broken(str(error)) from error
        del self._out[:count]
        if self._sent is not None:
            self._sent(count)

    def _read_some(self) -> None:
        try:
            more = self.socket.recv(1 << 18)
        except BlockingIOError:
            return
        except OSError as error:
            raise Broken(str(error)) from error
        if not more:
            raise Broken("the server closed the connection")
        self._received += more
        self._take_frames()

    def _take_frames(self) -> None:
        at, received = 0, self._received
        while len(received) - at >= 9:
            length = int.from_bytes(received[at : at + 3], "big")
            if len(received) - at < 9 + length:
                break
            kind, flags = received[at + 3], received[at + 4]
            stream = int.from_bytes(received[at + 5 : at + 9], "big")
            self._take(kind, flags, stream, received[at + 9 : at + 9 + length])
            at += 9 + length
        self._received = received[at:]
        self._return_windows()
        self._flush()

    def _take(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        call = self.calls.get(stream)
        if kind == SETTINGS and not flags & ACK:
            self._adopt(payload)
            self._out += frame(SETTINGS, ACK, 0)
        elif kind == PING:
            self.pongs += flags & ACK
            if not flags & ACK:
                self._out += frame(PING, ACK, 0, payload)
        elif kind == WINDOW_UPDATE:
            self._widen(call, stream, int.from_bytes(payload, "big"))
        elif kind == GOAWAY:
            self.goaway = True
        elif call is None:
            self._to_return += len(payload) if kind == DATA else 0
        elif kind == RST_STREAM:
            call.status = -1 if call.status is None else call.status
        elif kind == DATA:
            self._take_data(call, payload, flags & END_STREAM)
        elif kind == HEADERS:
            self._take_headers(call, payload)

    def _take_data(self, call: Call, payload: bytes, last: int) -> None:
        call.bytes_in += len(payload)
        call.received += payload
        while len(call.received) >= 5:
            length = int.from_bytes(call.received[1:5], "big")
            if len(call.received) < 5 + length:
                break
            call.messages.append(bytes(call.received[5 : 5 + length]))
            del call.received[: 5 + length]
        self._to_return += len(payload)
        if self._refill and payload and not last:
            self._out += frame(WINDOW_UPDATE, 0, call.stream, struct.pack(">I", len(payload)))

    def _take_headers(self, call: Call, block: bytes) -> None:
        headers = dict(hpack.Reader(block).headers())
        if "grpc-status" in headers:
            call.status = int(headers["grpc-status"] or 2)
            call.text = headers.get("grpc-message", "")

    def _return_windows(self) -> None:
        if self._refill and self._to_return > 0:
            self._out += frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", self._to_return))
            self._to_return = 0

    def _widen(self, call: Call | None, stream: int, more: int) -> None:
        if stream == 0:
            self._connection_window += more
        elif call is not None:
            call.window += more

    def _adopt(self, payload: bytes) -> None:
        for at in range(0, len(payload), 6):
            name, value = struct.unpack(">HI", payload[at : at + 6])
            if name == INITIAL_WINDOW_SIZE:
                for call in self.calls.values():
                    call.window += value - self._stream_window
                self._stream_window = value


def open_socket(address: str, source: str | None, timeout: float) -> socket.socket:
    """To host:port, from the address `source`, or to unix:path."""
    try:
        if address.startswith("unix:"):
            connected = socket.socket(socket.AF_UNIX)
            connected.settimeout(timeout)
            connected.connect(address.removeprefix("unix:"))
        else:
            host, _, port = address.rpartition(":")
            connected = socket.create_connection((host, int(port)), timeout, (source, 0) if source else None)
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connected
    except OSError as error:
        raise Broken(f"cannot connect: {error}") from error
