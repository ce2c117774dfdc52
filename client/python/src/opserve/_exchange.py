"""What is said in a session, apart from how it travels: which commands are under way, and which failure is told where.

The conversations of opserve.Client and of opserve.aio.Client share it.
"""

from __future__ import annotations

import copy
import functools
import os
import sys
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Callable, Deque, Dict, Iterator, List, Optional, Tuple

from ._proto import session_pb2 as api
from ._wire import Buffer, field as wire_field, joined, taken_apart
from .errors import OpserveError, bad_answer, error_of_status

METHOD = "/opserve.v1.SessionService/Session"
# A message is full with so many commands or bytes. Uploads wait while so many bytes wait to be sent.
MESSAGE_COMMANDS = 512
MESSAGE_BYTES = 1 << 20
WAITING_BYTES = 64 << 20
_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_COMMANDS = b"\x0a"  # field 1 of SessionRequest

OnChunk = Callable[[api.OutputChunk, memoryview], None]
Item = Tuple[api.Command, Buffer]


@dataclass
class Pending:
    """A command that is not over, or whose failure was not told yet."""

    number: int
    stream: int  # 0 = on none
    place: str
    on_chunk: Optional[OnChunk] = None
    over: bool = False
    answer: Optional[api.Answer] = None
    error: Optional[OpserveError] = None


@functools.lru_cache(maxsize=4096)
def _is_ours(file: str) -> bool:
    return os.path.abspath(file).startswith(_PACKAGE)


def caller() -> str:
    """Where, outside of this package, the program is."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


class Outbox:
    """The commands that go into one message."""

    def __init__(self, full: int) -> None:
        self._full = full
        self._items: List[Item] = []
        self._size = 0

    def add(self, item: Item) -> bool:
        """Whether the message is full with it."""
        self._items.append(item)
        self._size += len(item[1]) + item[0].ByteSize()
        return len(self._items) >= MESSAGE_COMMANDS or self._size >= self._full

    @property
    def data_bytes(self) -> int:
        return sum(len(data) for _, data in self._items)

    def message(self) -> bytes:
        header: List[Buffer] = []
        raw: List[Buffer] = []
        for command, data in self._items:
            if command.HasField("upload"):
                command.upload.raw_index = len(raw)
                raw.append(data)
            header += wire_field(_COMMANDS, command.SerializeToString())
        return joined(header, raw)


@dataclass
class Exchange:
    """Every command is answered; a failure that nobody waits for is kept until outcome() of a later command tells it.

    It waits for nothing and takes no lock: a conversation does, around it.
    """

    pending: Dict[int, Pending] = field(default_factory=dict)
    info: Optional[api.SessionInfo] = None
    draining: bool = False
    ended: Optional[OpserveError] = None
    waiting_bytes: int = 0
    unanswered: int = 0
    last: int = 0
    garbage: Deque[Dict[str, Any]] = field(default_factory=deque)
    process: int = field(default_factory=os.getpid)

    # ---- commands out

    def has_room(self) -> bool:
        """Whether another command may be sent now."""
        return self.waiting_bytes <= WAITING_BYTES and self.unanswered < self._limit()

    def _limit(self) -> int:
        return max(1, self.info.max_queued_commands // 2) if self.info is not None and self.info.max_queued_commands else 1024

    def put(self, stream: int, place: str, on_chunk: Optional[OnChunk], command: Dict[str, Any]) -> Tuple[Pending, api.Command]:
        """The next command, under way from now on."""
        self.last += 1
        message = api.Command(id=self.last, **command)
        pending = self.pending[self.last] = Pending(self.last, stream, place, on_chunk)
        self.unanswered += 1
        return pending, message

    def discard(self, command: Dict[str, Any]) -> None:
        """Keeps a command to be sent with another one. It may be called by a finalizer: it takes no lock."""
        if self.process == os.getpid():
            self.garbage.append(command)

    def discarded(self) -> Iterator[Dict[str, Any]]:
        """What discard() kept, taken from there."""
        while self.garbage:
            try:
                yield self.garbage.popleft()
            except IndexError:
                return

    def outbox(self) -> Outbox:
        """For the next message. Uploads have at most half of what the server takes."""
        return Outbox(MESSAGE_BYTES if self.info is None else min(MESSAGE_BYTES, self.info.max_message_bytes // 4))

    # ---- answers in

    def take(self, message: bytes) -> None:
        """Takes a message of the server. Raises what protobuf raises for bytes that are none, and OpserveError."""
        parts = taken_apart(message)
        for answer in api.SessionResponse.FromString(parts.header).answers:
            self._take(answer, parts.raw)

    def _take(self, answer: api.Answer, raw: List[memoryview]) -> None:
        if answer.id == 0:
            if answer.HasField("info"):
                self.info = answer.info
            self.draining = self.draining or answer.HasField("draining")
            return
        pending = self.pending.get(answer.id)
        if pending is None or pending.over:
            raise bad_answer(f"command {answer.id} is not under way")
        if answer.HasField("chunk"):
            if pending.on_chunk is None or answer.chunk.raw_index >= len(raw):
                raise bad_answer(f"a chunk for command {answer.id}")
            pending.on_chunk(answer.chunk, raw[answer.chunk.raw_index])
        if answer.more:
            return
        pending.over, pending.answer, pending.on_chunk = True, answer, None
        self.unanswered -= 1
        if answer.HasField("error"):
            failed = self.pending.get(answer.failed_command, pending) if answer.failed_command else pending
            pending.error = error_of_status(answer.error, command=failed.number, place=failed.place)
        else:
            del self.pending[answer.id]

    # ---- what became of commands

    def is_settled(self, command: Pending) -> bool:
        """Whether a command and what came before it, on its stream or on none, are over."""
        return command.over and not any(self._before(command))

    def outcome(self, command: Pending) -> api.Answer:
        """The last answer of a settled command. Raises the first failure among it and what came before it."""
        failed = [other for other in self.pending.values()
                  if other.error is not None and (other is command or self._precedes(other, command))]
        if command.error is not None and command not in failed:
            failed.append(command)
        for other in failed:
            self.pending.pop(other.number, None)
        if failed:
            first = min(failed, key=lambda other: (other.error.command or other.number))  # type: ignore[union-attr]
            assert first.error is not None
            raise first.error
        assert command.answer is not None
        return command.answer

    def answer_of(self, query: Pending) -> api.Answer:
        """The answer of a query that is over, whatever else failed. Raises its failure."""
        self.pending.pop(query.number, None)
        if query.error is not None:
            raise query.error
        assert query.answer is not None
        return query.answer

    def forgive(self, command: Pending) -> None:
        """Drops the failures up to a command that only followed from those that were told, and the command."""
        for other in list(self.pending.values()):
            followed = other is command or (other.error is not None and other.error.reason == "STREAM_FAILED")
            if other.number <= command.number and followed:
                del self.pending[other.number]

    def raise_untold(self) -> None:
        """At the end: raises the first failure that was not told."""
        untold = list(self.pending.values())
        self.pending.clear()
        for pending in untold:
            if pending.error is not None:
                raise pending.error
        if untold:
            self.raise_ended()

    def raise_ended(self) -> None:
        """Raises what ended the session, if it is over: an error of its own each time, whose traceback keeps nothing of the session."""
        if self.ended is not None:
            raise copy.copy(self.ended)

    def _before(self, command: Pending) -> Iterator[Pending]:
        return (other for other in self.pending.values() if not other.over and self._precedes(other, command))

    @staticmethod
    def _precedes(other: Pending, command: Pending) -> bool:
        return other.number < command.number and (not other.stream or not command.stream or other.stream == command.stream)
