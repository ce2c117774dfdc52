"""A session by hand."""

from collections.abc import Iterable

import http2
import wire

CONTEXT, STREAM = 1, 1
PREBUILT_ID = 1 << 20
RAW = 0  # in an answer's fields: the entries of its message


def full_message(*commands: tuple[int, bytes], most_bytes: int = (4 << 20) - 100, quiet: bool = True) -> bytes:
    """A message of 4 MiB with these commands in turns, over and over, with ids from PREBUILT_ID on: what takes long
    to make is made once, before the attack.
    """
    out = bytearray()
    bodies = [(wire.field(2, 1) if quiet else b"") + wire.field(number, body) for number, body in commands]
    for id in range(PREBUILT_ID, PREBUILT_ID + (1 << 20)):
        member = wire.field(1, wire.field(1, id) + bodies[id % len(bodies)])
        if len(out) + len(member) > most_bytes:
            break
        out += member
    return bytes(out)


class Session:
    """On a stream of `connection`. Ids of commands count up by themselves."""

    def __init__(self, connection: http2.Connection):
        self.connection = connection
        self.call = connection.begin(http2.SESSION)
        self._id = 0
        self._seen = 0

    def command(self, number: int, body: bytes = b"", quiet: bool = False) -> bytes:
        """One to be sent by itself or with others."""
        self._id += 1
        return wire.command(number, body, self._id, quiet)

    def send(self, number: int, body: bytes = b"", raw: Iterable[bytes] = (), quiet: bool = False, **how) -> int:
        """The command's id."""
        return self.send_group([self.command(number, body, quiet)], raw, **how)

    def send_group(self, commands: Iterable[bytes], raw: Iterable[bytes] = (), **how) -> int:
        """In one message, with the entries that they name; the id of the last."""
        self.connection.message(self.call, wire.session_request(commands, raw), **how)
        return self._id

    def begin(self, streams: int = 1) -> "Session":
        """With context 1 and streams 1, 2, …"""
        self.send_group(
            [self.command(wire.CREATE_CONTEXT, wire.ids(CONTEXT), quiet=True)]
            + [self.command(wire.CREATE_STREAM, wire.ids(1 + i, CONTEXT), quiet=True) for i in range(streams)]
        )
        return self

    def allocate(self, buffer: int, size: int) -> int:
        return self.send(wire.ALLOCATE, wire.ids(buffer, CONTEXT, size))

    def upload(self, buffer: int, content: bytes, offset: int = 0, stream: int = STREAM, quiet: bool = True) -> int:
        return self.send(wire.UPLOAD, wire.upload(wire.buffer_range(buffer, offset), stream), [content], quiet)

    def download(self, buffer: int, size: int, offset: int = 0, stream: int = STREAM, chunk: int = 0) -> int:
        body = wire.field(1, wire.buffer_range(buffer, offset, size)) + wire.field(2, stream)
        return self.send(wire.DOWNLOAD, body + (wire.field(3, chunk) if chunk else b""))

    def answers(self) -> list[dict[int, list]]:
        """What came since the last time this was asked, by field numbers and RAW."""
        fresh = self.call.messages[self._seen :]
        self._seen = len(self.call.messages)
        found = []
        for message in fresh:
            parts = wire.fields(message)
            found += [{**wire.fields(each), RAW: parts.get(15, [])} for each in parts.get(1, [])]
        return found

    def await_answers(self, last: int, seconds: float = 5.0) -> list[dict[int, list]]:
        """All up to the last one of command `last`; fewer when the time is over or the session has ended."""
        found: list[dict[int, list]] = []

        def is_over() -> bool:
            found.extend(self.answers())
            return self.call.ended or any(each.get(1) == [last] and 2 not in each for each in found)

        self.connection.poll_until(is_over, seconds)
        return found

    def drop_answers(self) -> None:
        """Takes what came, and keeps none of it."""
        self.connection.poll(0)
        self.call.messages.clear()
        self._seen = 0

    def end(self) -> None:
        self.connection.write(self.call, b"", end=True)


def error_of(answer: dict[int, list]) -> str:
    """In words, of one answer; empty of one that is none."""
    return (wire.first(answer[3][0], 2) or b"?").decode() if 3 in answer else ""


def bytes_of(answers: list[dict[int, list]], command: int) -> bytes:
    """The chunks that a command was answered with."""
    chunks = [(each[RAW], each[13][0]) for each in answers if each.get(1) == [command] and 13 in each]
    return b"".join(raw[wire.first(chunk, 3) or 0] for raw, chunk in chunks)
