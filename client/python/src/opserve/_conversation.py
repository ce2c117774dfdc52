"""The bidirectional RPC below a session: commands out, answers in, and which failure is told where."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Callable, Deque, Dict, Iterator, List, Optional, Tuple

import grpc

from ._channel import Channel
from ._proto import session_pb2 as api
from ._wire import Buffer, field as wire_field, joined, taken_apart
from .errors import OpserveError, bad_answer, error_of_rpc, error_of_status

METHOD = "/opserve.v1.SessionService/Session"
# A message is full with so many commands or bytes. Uploads wait while so many bytes wait to be sent.
MESSAGE_COMMANDS = 512
MESSAGE_BYTES = 1 << 20
WAITING_BYTES = 64 << 20
_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_COMMANDS = b"\x0a"  # field 1 of SessionRequest


@dataclass
class Pending:
    """A command that is not over, or whose failure was not told yet."""

    number: int
    stream: int  # 0 = on none
    place: str
    on_chunk: Optional[Callable[[api.OutputChunk, memoryview], None]] = None
    over: bool = False
    answer: Optional[api.Answer] = None
    error: Optional[OpserveError] = None


def caller() -> str:
    """Where, outside of this package, the program is."""
    frame = sys._getframe(1)
    while frame.f_back is not None and os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE):
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


@dataclass
class _State:
    """What the threads share, under Conversation._changed."""

    pending: Dict[int, Pending] = field(default_factory=dict)
    info: Optional[api.SessionInfo] = None
    draining: bool = False
    ended: Optional[OpserveError] = None
    waiting_bytes: int = 0
    unanswered: int = 0


class Conversation:
    """Every command is answered; a failure that nobody waits for is kept until wait() of a later command tells it.

    Any thread may send. One thread of ours reads the answers, one of gRPC's sends.
    """

    def __init__(self, channel: Channel, timeout: Optional[float]) -> None:
        self._queue: "queue.SimpleQueue[Optional[Tuple[api.Command, Buffer]]]" = queue.SimpleQueue()
        self._sending = threading.Lock()
        self._changed = threading.Condition()
        self._state = _State()
        self._last = 0
        self._garbage: Deque[Dict[str, Any]] = deque()
        self._process = os.getpid()
        method = channel.get().channel.stream_stream(METHOD)
        self._rpc: Any = method(self._messages(), timeout=timeout, metadata=channel.target.metadata)
        self._reader = threading.Thread(target=self._read, daemon=True, name="opserve session")
        self._reader.start()
        with self._changed:
            self._wait_for(lambda: self._state.info is not None)
            assert self._state.info is not None
            self.info: api.SessionInfo = self._state.info

    # ---- commands out

    def send(self, data: Buffer = b"", *, stream: int = 0, on_chunk: Optional[Callable[[api.OutputChunk, memoryview], None]] = None,
             **command: Any) -> Pending:
        """Sends a command, as send(free={"buffer": 1}); an upload with its `data`. Waits only while too much is under way."""
        place = caller()
        self._drop_garbage()
        with self._changed:
            self._wait_for(lambda: self._state.waiting_bytes <= WAITING_BYTES and self._state.unanswered < self._limit())
            if self._state.ended is not None:
                raise self._state.ended
            self._state.waiting_bytes += len(data)
        return self._put(data, stream, place, on_chunk, command)

    def _limit(self) -> int:
        info = self._state.info
        return max(1, info.max_queued_commands // 2) if info is not None and info.max_queued_commands else 1024

    def _put(self, data: Buffer, stream: int, place: str, on_chunk: Any, command: Dict[str, Any]) -> Pending:
        with self._sending:  # numbers must go out in order
            self._last += 1
            pending = Pending(self._last, stream, place, on_chunk)
            message = api.Command(id=self._last, **command)
            with self._changed:
                self._state.pending[pending.number] = pending
                self._state.unanswered += 1
            self._queue.put((message, data))
        return pending

    def discard(self, **command: Any) -> None:
        """Sends a command later, with another one. It may be called by a finalizer: it takes no lock."""
        if self._process == os.getpid():
            self._garbage.append(command)

    def _drop_garbage(self) -> None:
        while self._garbage:
            try:
                command = self._garbage.popleft()
            except IndexError:
                return
            self._put(b"", 0, "a finalizer", None, command)

    def _full(self) -> int:
        """A message ends behind the command that brings it to this size; uploads have at most half of what the server takes."""
        info = self._state.info
        return MESSAGE_BYTES if info is None else min(MESSAGE_BYTES, info.max_message_bytes // 4)

    def _messages(self) -> Iterator[bytes]:
        while True:
            item = self._queue.get()
            items: List[Tuple[api.Command, Buffer]] = []
            size = 0
            while item is not None:
                items.append(item)
                size += len(item[1]) + item[0].ByteSize()
                if len(items) >= MESSAGE_COMMANDS or size >= self._full() or self._queue.empty():
                    break
                item = self._queue.get()
            if items:
                yield _message_of(items)
                with self._changed:
                    self._state.waiting_bytes -= sum(len(data) for _, data in items)
                    self._changed.notify_all()
            if item is None:
                return

    # ---- answers in

    def _read(self) -> None:
        try:
            for message in self._rpc:
                parts = taken_apart(message)
                response = api.SessionResponse.FromString(parts.header)
                with self._changed:
                    for answer in response.answers:
                        self._take(answer, parts.raw)
                    self._changed.notify_all()
            ended = OpserveError("the session is over", code=grpc.StatusCode.CANCELLED)
        except grpc.RpcError as error:
            ended = error_of_rpc(error)
        except OpserveError as error:
            ended = error
            self._rpc.cancel()
        except Exception as error:  # what protobuf raises for bytes that are no message
            ended = bad_answer(str(error))
            self._rpc.cancel()
        with self._changed:
            self._state.ended = ended
            self._changed.notify_all()
        self._queue.put(None)  # the sender waits for more

    def _take(self, answer: api.Answer, raw: List[memoryview]) -> None:
        if answer.id == 0:
            if answer.HasField("info"):
                self._state.info = answer.info
            self._state.draining = self._state.draining or answer.HasField("draining")
            return
        pending = self._state.pending.get(answer.id)
        if pending is None or pending.over:
            raise bad_answer(f"command {answer.id} is not under way")
        if answer.HasField("chunk"):
            if pending.on_chunk is None or answer.chunk.raw_index >= len(raw):
                raise bad_answer(f"a chunk for command {answer.id}")
            pending.on_chunk(answer.chunk, raw[answer.chunk.raw_index])
        if answer.more:
            return
        pending.over, pending.answer, pending.on_chunk = True, answer, None
        self._state.unanswered -= 1
        if answer.HasField("error"):
            failed = self._state.pending.get(answer.failed_command, pending) if answer.failed_command else pending
            pending.error = error_of_status(answer.error, command=failed.number, place=failed.place)
        else:
            del self._state.pending[answer.id]

    # ---- waiting

    def wait(self, command: Pending) -> api.Answer:
        """The last answer of a command. Raises the first failure among it and what came before it, on its stream or on none."""
        with self._changed:
            self._wait_for(lambda: command.over and not any(self._before(command)))
            failed = [other for other in self._state.pending.values()
                      if other.error is not None and (other is command or self._precedes(other, command))]
            if command.error is not None and command not in failed:
                failed.append(command)
            for other in failed:
                self._state.pending.pop(other.number, None)
        if failed:
            first = min(failed, key=lambda other: (other.error.command or other.number))  # type: ignore[union-attr]
            assert first.error is not None
            raise first.error
        assert command.answer is not None
        return command.answer

    def ask(self, command: Pending) -> api.Answer:
        """The answer of a query, which waits for nothing else. Raises its failure."""
        with self._changed:
            self._wait_for(lambda: command.over)
            self._state.pending.pop(command.number, None)
        if command.error is not None:
            raise command.error
        assert command.answer is not None
        return command.answer

    def _before(self, command: Pending) -> Iterator[Pending]:
        return (other for other in self._state.pending.values() if not other.over and self._precedes(other, command))

    @staticmethod
    def _precedes(other: Pending, command: Pending) -> bool:
        return other.number < command.number and (not other.stream or not command.stream or other.stream == command.stream)

    def _wait_for(self, condition: Callable[[], bool]) -> None:
        """Under _changed. Raises what ended the session, if that comes first."""
        self._changed.wait_for(lambda: condition() or self._state.ended is not None)
        if not condition():
            assert self._state.ended is not None
            raise self._state.ended

    def forgive(self, command: Pending) -> None:
        """Waits for a command that tells the server that failures were told, and drops those that only followed from them."""
        with self._changed:
            self._wait_for(lambda: command.over)
            for other in list(self._state.pending.values()):
                followed = other is command or (other.error is not None and other.error.reason == "STREAM_FAILED")
                if other.number <= command.number and followed:
                    del self._state.pending[other.number]

    @property
    def is_open(self) -> bool:
        """Whether the RPC goes on."""
        with self._changed:
            return self._state.ended is None

    @property
    def draining(self) -> bool:
        """Whether the server said that it is stopping."""
        with self._changed:
            return self._state.draining

    def finish(self) -> None:
        """Half-closes, waits for the server to finish what was sent, and raises the first failure that was not told."""
        self._queue.put(None)
        self._reader.join()
        with self._changed:
            untold = [pending for pending in self._state.pending.values()]
            ended = self._state.ended
            self._state.pending.clear()
        for pending in untold:
            if pending.error is not None:
                raise pending.error
        if untold and ended is not None:
            raise ended

    def cancel(self) -> None:
        """Ends the RPC at once: the server drops waiting commands."""
        self._queue.put(None)
        self._rpc.cancel()
        self._reader.join()


def _message_of(items: List[Tuple[api.Command, Buffer]]) -> bytes:
    header: List[Buffer] = []
    raw: List[Buffer] = []
    for command, data in items:
        if command.HasField("upload"):
            command.upload.raw_index = len(raw)
            raw.append(data)
        header += wire_field(_COMMANDS, command.SerializeToString())
    return joined(header, raw)
