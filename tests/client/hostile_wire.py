"""Messages of opserve.v1 by hand: what protobuf would not write, too."""

from protobuf_wire import field, fields, floats

FLOAT32, INT8 = 1, 5


def tensor(name="grad_input", dtype=FLOAT32, shape=(8,), more=b""):
    return field(1, name) + field(2, dtype) + b"".join(field(3, extent) for extent in shape) + more


def error(code=3, message="no", more=b""):
    """A StatusDetails."""
    return field(1, code) + field(2, message) + more


def error_info(**metadata):
    """The `details` of a StatusDetails."""
    info = field(1, metadata.pop("reason", "ACLNN_ERR_PARAM_INVALID")) + field(2, "opserve")
    for key, value in metadata.items():
        info += field(3, field(1, key) + field(2, value))
    return field(3, field(1, "type.googleapis.com/google.rpc.ErrorInfo") + field(2, info))


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
    return field(5, b"".join(field(i + 1, value) for i, value in enumerate(limits.values())))


def answer(command, *more, last=True):
    """A SessionResponse."""
    return field(1, command) + (b"" if last else field(2, 1)) + b"".join(more)


def chunk(offset, some, output="grad_input"):
    return field(13, field(1, output) + field(2, offset)) + field(100, some)


PLAN, CHUNK_ANSWER, QUIET = 11, 13, 2
ALLOCATE, SYNCHRONIZE, DOWNLOAD, GET_WORKSPACE_SIZE, EXECUTE, CHUNKED_EXECUTE, COMMANDS = 15, 14, 19, 22, 24, 27, 29


def commands(message):
    """Id and kind of each command in a SessionRequest that wants an answer."""
    found = fields(message)
    if COMMANDS in found:
        return [command for member in found[COMMANDS] for command in commands(member)]
    if any(found.get(QUIET, [])):
        return []
    return [(found[1][-1], number) for number in found if 3 <= number <= 28][:1]


def session(call, react, info=None):
    """Serves a session: react(id, kind) gives the answers to a command, as messages."""
    call.headers()
    call.message(session_info() if info is None else info)
    for message in call.messages():
        for command, kind in commands(message):
            for reply in react(command, kind):
                call.message(reply)
    call.end()


def honestly(command, kind):
    """Answers the commands of `opserve run --session`, and of what else is done with eight floats."""
    if kind == GET_WORKSPACE_SIZE:
        yield answer(command, field(PLAN, field(1, 64) + field(2, tensor())))
    elif kind == EXECUTE:
        yield answer(command, chunk(0, RESULT), last=False)
        yield answer(command)
    elif kind == CHUNKED_EXECUTE:
        yield answer(command, field(12, field(1, tensor(shape=(4096,)))), last=False)
        yield answer(command, chunk(0, RESULT * 512))
    elif kind == DOWNLOAD:
        yield answer(command, chunk(0, RESULT, ""))
    else:
        yield answer(command)


VALID = {
    "GetServerInfo": field(1, "1.0.0") + field(2, 1 << 20) + field(3, 1 << 30) + field(4, 4096) + field(5, 8),
    "ListOperators": field(1, schema()),
    "ListDevices": field(1, field(1, "cpu:0") + field(2, "cpu") + field(3, "host") + field(5, 2)),
    "GetWorkspaceSize": field(1, 64) + field(2, tensor()) + field(3, 96) + field(4, 32) + field(5, "cpu:0") +
                        field(6, field(1, 128) + field(3, 1e-6)),
    "Execute": field(1, tensor(more=field(6, 0))) + field(15, RESULT),
    "Session": session_info(),
    "GetStatistics": field(1, 10**9) + field(2, field(1, "Execute") + field(2, field(2, "OK") + field(3, 7))),
}
