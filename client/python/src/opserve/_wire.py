"""The two messages' forms that protobuf is too slow for: bytes of tensors are copied once on their way out, and not at all on
their way in.

Both have the bulk in `repeated bytes raw = 15`, behind small fields, which protobuf reads and writes.
"""

from __future__ import annotations

from typing import List, NamedTuple, Sequence, Union

from .errors import bad_answer

Buffer = Union[bytes, memoryview]
RAW_TAG = b"\x7a"  # field 15, length-delimited
_RAW_KEY = RAW_TAG[0]
_VARINT, _FIXED64, _DELIMITED, _FIXED32 = 0, 1, 2, 5


def varint(number: int) -> bytes:
    """A number ≥ 0 as protobuf writes it."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(tag: bytes, data: Buffer) -> List[Buffer]:
    """A length-delimited field, in parts."""
    return [tag, varint(len(data)), data]


def joined(header: Sequence[Buffer], raw: Sequence[Buffer]) -> bytes:
    """A message: the fields below 15, written already, then the entries of `raw`."""
    parts: List[Buffer] = list(header)
    for entry in raw:
        parts += RAW_TAG, varint(len(entry)), entry
    return b"".join(parts)


class Parts(NamedTuple):
    """A message taken apart: what protobuf is to read, and the entries of `raw`, which look into the message."""

    header: bytes
    raw: List[memoryview]


def taken_apart(message: bytes) -> Parts:
    """The inverse of joined(), for fields in any order. Raises InternalError for bytes that are no message."""
    view, header, raw = memoryview(message), [], []
    position, size, copied = 0, len(message), 0
    while position < size:
        start = position
        key, position = _read_varint(message, position)
        kind = key & 7
        if kind == _DELIMITED:
            length, position = _read_varint(message, position)
            if length > size - position:
                raise bad_answer("a field is longer than the message")
            if key == _RAW_KEY:
                if copied < start:
                    header.append(view[copied:start])
                raw.append(view[position:position + length])
                position = copied = position + length
                continue
            position += length
        elif kind == _VARINT:
            _, position = _read_varint(message, position)
        elif kind in (_FIXED64, _FIXED32):
            position += 8 if kind == _FIXED64 else 4
        else:
            raise bad_answer(f"a field of kind {kind}")
        if position > size:
            raise bad_answer("the message ends within a field")
    header.append(view[copied:])
    return Parts(b"".join(header), raw)


def _read_varint(message: bytes, position: int) -> "tuple[int, int]":
    number = shift = 0
    while position < len(message) and shift < 70:
        byte = message[position]
        number |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return number, position
    raise bad_answer("a number without an end")
