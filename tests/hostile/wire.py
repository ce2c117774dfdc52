"""Protobuf by hand: the messages of proto/opserve/v1 as bytes, sound ones and others."""

import pathlib
import sys
from collections.abc import Iterable

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from protobuf_wire import field, fields, first, floats, packed, varint  # noqa: E402, F401

FLOAT32, FLOAT16, BFLOAT16, FLOAT64, INT8, INT16, INT32, INT64, UINT8 = range(1, 10)
BOOL = 13
VALUES = 2  # TENSOR_ENCODING_VALUES

# Command.command
(
    CREATE_CONTEXT,
    DESTROY_CONTEXT,
    CREATE_STREAM,
    DESTROY_STREAM,
    CREATE_EVENT,
    DESTROY_EVENT,
    RECORD_EVENT,
    WAIT_EVENT,
    QUERY_EVENT,
    QUERY_STREAM,
    QUERY_ELAPSED_TIME,
    SYNCHRONIZE,
    ALLOCATE,
    FREE,
    QUERY_MEMORY,
    UPLOAD,
    DOWNLOAD,
    COPY,
    FILL,
    CREATE_EXECUTOR,
    SET_TENSORS,
    RUN_EXECUTOR,
    DESTROY_EXECUTOR,
    EXECUTE,
    EXECUTE_CHUNKED,
    INPUT_CHUNK,
) = range(3, 29)


# ---- calls


def tensor(
    name: str,
    dtype: int = FLOAT32,
    shape: Iterable[int] = (),
    strides: Iterable[int] = (),
    offset: int = 0,
    raw: int | None = None,
    buffer: int | None = None,
    chunked: bool = False,
    shared: bytes | None = None,
) -> bytes:
    message = field(1, name) + field(2, dtype) + packed(3, shape) + packed(4, strides)
    if offset:
        message += field(5, offset)
    if raw is not None:
        message += field(6, raw)
    if buffer is not None:
        message += field(8, field(1, buffer))
    if chunked:
        message += field(9, b"")
    if shared is not None:
        message += field(10, shared)
    return message


def repeated(name: str, shape: Iterable[int], dtype: int = FLOAT32, **where) -> bytes:
    """A view that repeats its one element."""
    shape = list(shape)
    return tensor(name, dtype, shape, [0] * len(shape), **where)


def attribute(name: str, value: bool | int | float | list) -> bytes:
    message = field(1, name)
    if isinstance(value, bool):
        return message + field(4, int(value))
    if isinstance(value, int):
        return message + field(2, value)
    if isinstance(value, float):
        return message + field(3, value)
    if value and isinstance(value[0], bool):
        return message + field(6, packed(1, value))
    return message + field(5, packed(1, value))


def call(operator: str, inputs: Iterable[bytes] = (), outputs: Iterable[bytes] = (), **attributes) -> bytes:
    return (
        field(1, operator)
        + b"".join(field(2, each) for each in inputs)
        + b"".join(field(3, attribute(name, value)) for name, value in attributes.items())
        + b"".join(field(4, each) for each in outputs)
    )


def execute(the_call: bytes, raw: Iterable[bytes] = (), encoding: int = 0) -> bytes:
    """An ExecuteRequest."""
    return field(1, the_call) + (field(2, encoding) if encoding else b"") + b"".join(field(15, each) for each in raw)


def batch(calls: Iterable[bytes], raw: Iterable[bytes] = (), encoding: int = 0) -> bytes:
    """An ExecuteBatchRequest."""
    return (
        b"".join(field(1, each) for each in calls)
        + (field(2, encoding) if encoding else b"")
        + b"".join(field(15, each) for each in raw)
    )


def l1_loss(shape: Iterable[int], reduction: int, dtype: int = FLOAT32, first_raw: int = 0) -> bytes:
    """L1Loss of one repeated element of each input: |self - target|, cheap to ask for."""
    shape = list(shape)
    return call(
        "L1Loss",
        [repeated("self", shape, dtype, raw=first_raw), repeated("target", shape, dtype, raw=first_raw)],
        reduction=reduction,
    )


def small_gradient(first_raw: int = 0, elements: int = 8) -> bytes:
    """L1LossBackward without reduction, of three raw entries."""
    names = ("grad_output", "self", "target")
    return call(
        "L1LossBackward",
        [tensor(name, FLOAT32, [elements], raw=first_raw + i) for i, name in enumerate(names)],
        reduction=0,
    )


def groups(depth: int) -> bytes:
    """Groups that nobody knows, inside each other."""
    return varint(2000 << 3 | 3) * depth + varint(2000 << 3 | 4) * depth


# ---- session commands


def command(number: int, body: bytes = b"", id: int = 0, quiet: bool = False) -> bytes:
    """A Command."""
    return field(1, id) + (field(2, 1) if quiet else b"") + field(number, body)


def session_request(commands: Iterable[bytes], raw: Iterable[bytes] = ()) -> bytes:
    """A SessionRequest."""
    return b"".join(field(1, each) for each in commands) + b"".join(field(15, each) for each in raw)


def upload(destination: bytes, stream: int, raw: int = 0) -> bytes:
    """An UploadCommand."""
    return field(1, destination) + field(2, stream) + field(3, raw)


def buffer_range(buffer: int, offset: int = 0, row_bytes: int = 0, rows: int = 0, stride: int = 0) -> bytes:
    values = (buffer, offset, row_bytes, rows, stride)
    return b"".join(field(i + 1, value) for i, value in enumerate(values) if value)


def ids(*values: int | str | bytes) -> bytes:
    """Fields 1, 2, 3, …: how most commands look. Zeros are left out."""
    return b"".join(field(i + 1, value) for i, value in enumerate(values) if value)


def executor(number: int, context: int, the_call: bytes, repeatable: bool = False) -> bytes:
    return ids(number, context) + field(3, the_call) + (field(4, 1) if repeatable else b"")
