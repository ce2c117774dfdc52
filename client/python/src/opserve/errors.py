"""What a failed call raises.

Every error is an OpserveError; its subclass says what kind it is, and is a built-in exception too, so that
`except ValueError` catches a wrong argument. docs/errors.md has the reasons.
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Type

import grpc

from ._html import escaped, table
from ._proto import error_details_pb2, status_pb2

__all__ = ["CallCancelledError", "CallTimeoutError", "InternalError", "InvalidArgumentError", "NotFoundError", "OpserveError",
           "ResourceError", "UnavailableError", "UnsupportedError"]

INFO = "google.rpc.ErrorInfo"
RETRY = "google.rpc.RetryInfo"
DETAILS_KEY = "grpc-status-details-bin"


class OpserveError(Exception):
    """A call, or a command of a session, that failed.

    code         grpc.StatusCode
    reason       a constant of docs/errors.md, "" where gRPC itself failed: no server, the caller's deadline
    aclnn_code   161001, 161002, …; None where there is none
    operator, parameter, want, got   what was wrong, in words; "" where it is not known
    retry_after  seconds after which another try may succeed; None where the server does not say
    command      the number of the session's command that failed; None for a call
    place        "file.py:12", where that command was given; ""
    """

    def __init__(self, message: str, *, code: grpc.StatusCode = grpc.StatusCode.UNKNOWN, reason: str = "",
                 aclnn_code: Optional[int] = None, operator: str = "", parameter: str = "", want: str = "", got: str = "",
                 retry_after: Optional[float] = None, command: Optional[int] = None, place: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.reason = reason
        self.aclnn_code = aclnn_code
        self.operator = operator
        self.parameter = parameter
        self.want = want
        self.got = got
        self.retry_after = retry_after
        self.command = command
        self.place = place

    def __str__(self) -> str:
        parts = [str(part) for part in (self.reason or self.code.name, self.aclnn_code) if part is not None]
        text = f"{' '.join(parts)}: {self.message}"
        return f"{text} (command {self.command}, given at {self.place})" if self.command is not None else text

    def _repr_html_(self) -> str:
        fields = ("operator", "parameter", "want", "got", "retry_after", "command", "place")
        rows = [(name, getattr(self, name)) for name in fields if getattr(self, name) not in ("", None)]
        return f"<b>{escaped(type(self).__name__)}</b>: {escaped(self)}" + (table(("what", "value"), rows) if rows else "")

    def __reduce__(self) -> Any:
        return _remade, (type(self), self.message, {name: value for name, value in vars(self).items() if name != "message"})


class InvalidArgumentError(OpserveError, ValueError):
    """An argument is wrong: INVALID_ARGUMENT, OUT_OF_RANGE, FAILED_PRECONDITION."""


class NotFoundError(OpserveError, LookupError):
    """No operator, device or object of that name."""


class UnsupportedError(OpserveError, NotImplementedError):
    """The server, the device or its product profile lacks it."""


class CallTimeoutError(OpserveError, TimeoutError):
    """The deadline passed."""


class UnavailableError(OpserveError, ConnectionError):
    """No server there, it is stopping, or its device is gone."""


class ResourceError(OpserveError):
    """A bound on memory, calls in flight, time or a message's size was met."""


class CallCancelledError(OpserveError):
    """The call was cancelled."""


class InternalError(OpserveError, RuntimeError):
    """A device fault, a defect of opserve, or an answer that makes no sense."""


_CLASSES: Dict[grpc.StatusCode, Type[OpserveError]] = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidArgumentError,
    grpc.StatusCode.OUT_OF_RANGE: InvalidArgumentError,
    grpc.StatusCode.FAILED_PRECONDITION: InvalidArgumentError,
    grpc.StatusCode.NOT_FOUND: NotFoundError,
    grpc.StatusCode.UNIMPLEMENTED: UnsupportedError,
    grpc.StatusCode.DEADLINE_EXCEEDED: CallTimeoutError,
    grpc.StatusCode.UNAVAILABLE: UnavailableError,
    grpc.StatusCode.RESOURCE_EXHAUSTED: ResourceError,
    grpc.StatusCode.CANCELLED: CallCancelledError,
    grpc.StatusCode.INTERNAL: InternalError,
}
_CODES = {code.value[0]: code for code in grpc.StatusCode}


def _remade(kind: Type[OpserveError], message: str, fields: Dict[str, Any]) -> OpserveError:
    return kind(message, **fields)


def error_of_status(status: status_pb2.Status, *, command: Optional[int] = None, place: str = "") -> OpserveError:
    """The error that a google.rpc.Status tells of."""
    code = _CODES.get(status.code, grpc.StatusCode.UNKNOWN)
    info, retry_after = error_details_pb2.ErrorInfo(), None
    for detail in status.details:
        kind = detail.type_url.rpartition("/")[2]
        if kind == INFO:
            info = error_details_pb2.ErrorInfo.FromString(detail.value)
        elif kind == RETRY:
            delay = error_details_pb2.RetryInfo.FromString(detail.value).retry_delay
            retry_after = delay.seconds + delay.nanos * 1e-9
    told = info.metadata
    number = told["code"] if "code" in told else ""
    words = {name: told[name] if name in told else "" for name in ("operator", "parameter", "want", "got")}
    return _CLASSES.get(code, OpserveError)(
        status.message, code=code, reason=info.reason, aclnn_code=int(number) if number.isdigit() else None,
        retry_after=retry_after, command=command, place=place, **words)


def error_of_rpc(error: Any) -> OpserveError:
    """The error that a grpc.RpcError of a call stands for."""
    for key, value in error.trailing_metadata() or ():
        if key == DETAILS_KEY:
            try:
                return error_of_status(status_pb2.Status.FromString(value))
            except Exception:  # what is no Status; protobuf's implementations raise different classes
                break
    code = error.code()
    return _CLASSES.get(code, OpserveError)(error.details() or "", code=code)


def bad_answer(what: str) -> InternalError:
    """An answer that no server of this protocol sends."""
    return InternalError(f"the server's answer makes no sense: {what}", code=grpc.StatusCode.INTERNAL)
