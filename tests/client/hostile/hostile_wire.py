"""Messages of opserve.v1 by hand: what protobuf would not write, too."""

from protobuf_wire import field, fields, first, floats

FLOAT32, INT8 = 1, 5


def tensor(name="grad_input", dtype=FLOAT32, shape=(8,), more=b""):
    return field(1, name) + field(2, dtype) + b"".join(field(3, extent) for extent in shape) + more


def error(code=3, message="no", more=b""):
    """A google.rpc.Status."""
    return field(1, code) + field(2, message) + more


def detail(kind, message):
    """One of the `details` of a Status."""
    return field(3, field(1, f"type.googleapis.com/google.rpc.{kind}") + field(2, message))


def error_info(**metadata):
    info = field(1, metadata.pop("reason", "INVALID_PARAMETER")) + field(2, "opserve.dev")
    for key, value in metadata.items():
        info += field(3, field(1, key) + field(2, value))
    return detail("ErrorInfo", info)


def retry_info(seconds, nanos=0):
    return detail("RetryInfo", field(1, field(1, seconds) + field(2, nanos)))


# ---- valid answers, as those of a server with the one operator L1LossBackward --------------------------------------------------

RESULT = floats(0, 1, 2, 3, 4, 5, 6, 7)


def schema(name="L1LossBackward", summary="The gradient.", more=b""):
    inputs = b"".join(field(4, field(1, name) + field(4, FLOAT32)) for name in ("grad_output", "self", "target"))
    reduction = field(5, field(1, "reduction") + field(3, 1) + field(4, field(2, 0)))
    return (field(1, name) + field(2, summary) + inputs + reduction + field(6, field(1, "grad_input")) +
            field(8, 1) + more)


def session_info(**limits):
    limits = {"memory": 1 << 30, "handles": 100, "queued": 1000, "window": 1 << 20, "skew": 4096, "chunk": 4096,
              "message": 1 << 20} | limits
    return field(ANSWERS, field(5, b"".join(field(i + 1, value) for i, value in enumerate(limits.values()))))


def answer(command, *more, last=True, raw=()):
    """A SessionResponse with one answer."""
    return (field(ANSWERS, field(1, command) + (b"" if last else field(2, 1)) + b"".join(more)) +
            b"".join(field(RAW, entry) for entry in raw))


def chunk(offset, output="grad_input", raw_index=0):
    """An answer's, of which entry its bytes are."""
    return field(13, field(1, output) + field(2, offset) + field(3, raw_index))


def chunk_answer(command, offset, some, output="grad_input", last=False):
    """A SessionResponse with one chunk and its bytes."""
    return answer(command, chunk(offset, output), last=last, raw=[some])


COMMANDS, ANSWERS, RAW = 1, 1, 15
EVENT, STREAM, MEMORY, PLAN, QUIET = 7, 8, 10, 11, 2
QUERY_EVENT, QUERY_STREAM, QUERY_MEMORY = 11, 12, 17
ALLOCATE, SYNCHRONIZE, DOWNLOAD, CREATE_EXECUTOR, RUN_EXECUTOR, EXECUTE_CHUNKED = 15, 14, 19, 22, 24, 27


def commands(message):
    """Id and kind of each command in a SessionRequest that wants an answer."""
    for command in map(fields, fields(message).get(COMMANDS, [])):
        if not any(command.get(QUIET, [])):
            yield from [(command[1][-1], number) for number in command if 3 <= number <= 28][:1]


def joined(messages):
    """The same answers in fewer messages: as many in one as have no more than one entry of `raw` together."""
    whole = b""
    for message in messages:
        if first(whole, RAW) is not None and first(message, RAW) is not None:
            yield whole
            whole = b""
        whole += message
    if whole:
        yield whole


def session(call, react, info=None, send=iter):
    """Serves a session: react(id, kind) gives the answers to a command, as messages; send(messages) what is sent of all of
    them that answer one message."""
    call.headers()
    call.message(session_info() if info is None else info)
    for message in call.messages():
        for reply in send(reply for command, kind in commands(message) for reply in react(command, kind)):
            call.message(reply)
    call.end()


def honestly(command, kind):
    """Answers the commands of `opserve run --session`, and of what else is done with eight floats."""
    if kind == CREATE_EXECUTOR:
        yield answer(command, field(PLAN, field(1, 64) + field(2, tensor())))
    elif kind == RUN_EXECUTOR:
        yield chunk_answer(command, 0, RESULT)
        yield answer(command)
    elif kind == EXECUTE_CHUNKED:
        yield answer(command, field(12, field(1, tensor(shape=(4096,)))), last=False)
        yield chunk_answer(command, 0, RESULT * 512, last=True)
    elif kind == DOWNLOAD:
        yield chunk_answer(command, 0, RESULT, "", last=True)
    else:
        yield answer(command)


VALID = {
    "GetServerInfo": field(1, "1.0.0") + field(2, 1 << 20) + field(3, 1 << 30) + field(4, 4096) + field(5, 8),
    "ListOperators": field(1, schema()),
    "ListDevices": field(1, field(1, "cpu:0") + field(2, "cpu") + field(3, "host") + field(5, 2)),
    "GetWorkspaceSize": field(1, 64) + field(2, tensor()) + field(3, 96) + field(4, 32) + field(5, "cpu:0") +
                        field(6, field(1, 128) + field(3, 1000)),
    "Execute": field(1, tensor(more=field(6, 0))) + field(15, RESULT),
    "Session": session_info(),
    "GetStatistics": field(1, 10**9) + field(2, field(1, "Execute") + field(2, field(2, "OK") + field(3, 7))),
}
