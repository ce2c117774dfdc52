"""Protobuf's wire format by hand, for tests that write what protobuf would not write."""

import struct
from collections.abc import Iterable


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def field(number: int, content: int | float | bytes | str) -> bytes:
    """An int as a varint, a float as a double."""
    if isinstance(content, float):
        return varint(number << 3 | 1) + struct.pack("<d", content)
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    if isinstance(content, str):
        content = content.encode()
    return varint(number << 3 | 2) + varint(len(content)) + content


def packed(number: int, values: Iterable[int]) -> bytes:
    content = b"".join(varint(value) for value in values)
    return field(number, content) if content else b""


def floats(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def fields(message: bytes) -> dict[int, list]:
    """What a message has, by the fields' numbers in the order in which they first come: ints and bytes."""
    found: dict[int, list] = {}
    at = 0
    while at < len(message):
        tag, at = _read_varint(message, at)
        if tag & 7 == 0:
            value, at = _read_varint(message, at)
        elif tag & 7 == 2:
            length, at = _read_varint(message, at)
            value, at = message[at : at + length], at + length
        else:
            size = 8 if tag & 7 == 1 else 4
            value, at = message[at : at + size], at + size
        found.setdefault(tag >> 3, []).append(value)
    return found


def first(message: bytes, *path: int):
    """The first value at a path of field numbers; None where there is none."""
    for number in path:
        values = fields(message).get(number)
        if not values:
            return None
        message = values[0]
    return message


def _read_varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
