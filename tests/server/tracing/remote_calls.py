"""Calls by Debian's gRPC for Python, as bytes: with metadata, and with what comes behind the answer."""

import dataclasses
import pathlib
import sys

import grpc

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from protobuf_wire import field, floats, packed  # noqa: E402

TIMEOUT_SECONDS = 20
FLOAT32 = 1
TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT_ID = "00f067aa0ba902b7"
SAMPLED = ("traceparent", f"00-{TRACE_ID}-{PARENT_ID}-01")
NOT_SAMPLED = ("traceparent", f"00-{TRACE_ID}-{PARENT_ID}-00")


@dataclasses.dataclass
class Ended:
    code: str
    response: bytes
    trailers: dict


def call_of(operator, elements=4, beta=1.0):
    """A serialized Call of SmoothL1LossBackward, or of what `operator` names; its tensors are 12, 13, 14."""
    call = field(1, operator)
    for index, name in enumerate(("grad_out", "self", "target")):
        call += field(2, field(1, name) + field(2, FLOAT32) + packed(3, [elements]) + field(6, index))
    call += field(3, field(1, "reduction") + field(2, 0))
    return call + field(3, field(1, "beta") + field(3, beta))


def raw_of(elements=4, values=(12.5, 13.5, 14.5)):
    return b"".join(field(15, floats(value) * elements) for value in values)


def execute_request(operator="SmoothL1LossBackward", elements=4, beta=1.0):
    return field(1, call_of(operator, elements, beta)) + raw_of(elements)


class Remote:
    """One connection."""

    def __init__(self, address, credentials=None):
        self.channel = grpc.secure_channel(address, credentials) if credentials else grpc.insecure_channel(address)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.channel.close()

    def call(self, method, request, *metadata, service="opserve.v1.OperatorService"):
        made = self.channel.unary_unary(f"/{service}/{method}")
        try:
            response, call = made.with_call(request, timeout=TIMEOUT_SECONDS, metadata=metadata)
            code = grpc.StatusCode.OK
        except grpc.RpcError as error:
            response, call, code = b"", error, error.code()
        return Ended(code.name, response, dict(call.trailing_metadata() or ()))

    def session(self, *messages, metadata=()):
        """Sends the messages, half-closes: the code that the session ends with."""
        stream = self.channel.stream_stream("/opserve.v1.SessionService/Session")
        try:
            for _ in stream(iter(messages), timeout=TIMEOUT_SECONDS, metadata=metadata):
                pass
        except grpc.RpcError as error:
            return error.code().name
        return "OK"
