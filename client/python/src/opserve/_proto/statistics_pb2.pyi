from . import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class BatchStatistics(_message.Message):
    __slots__ = ["calls", "failed_calls"]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    FAILED_CALLS_FIELD_NUMBER: _ClassVar[int]
    calls: int
    failed_calls: int
    def __init__(self, calls: _Optional[int] = ..., failed_calls: _Optional[int] = ...) -> None: ...

class DeviceStatistics(_message.Message):
    __slots__ = ["device", "memory"]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    device: str
    memory: _types_pb2.MemoryInfo
    def __init__(self, device: _Optional[str] = ..., memory: _Optional[_Union[_types_pb2.MemoryInfo, _Mapping]] = ...) -> None: ...

class EngineStatistics(_message.Message):
    __slots__ = ["bytes_in_flight", "calls_in_flight", "cancelled_calls", "execution_ns", "expected_wait_ns", "expired_calls", "failed_calls", "inline_calls", "input_bytes", "output_bytes", "queue_wait_ns", "queued_calls", "refused_bytes", "refused_calls", "refused_deadline", "refused_wait"]
    BYTES_IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    CALLS_IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    CANCELLED_CALLS_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_NS_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_WAIT_NS_FIELD_NUMBER: _ClassVar[int]
    EXPIRED_CALLS_FIELD_NUMBER: _ClassVar[int]
    FAILED_CALLS_FIELD_NUMBER: _ClassVar[int]
    INLINE_CALLS_FIELD_NUMBER: _ClassVar[int]
    INPUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    QUEUED_CALLS_FIELD_NUMBER: _ClassVar[int]
    QUEUE_WAIT_NS_FIELD_NUMBER: _ClassVar[int]
    REFUSED_BYTES_FIELD_NUMBER: _ClassVar[int]
    REFUSED_CALLS_FIELD_NUMBER: _ClassVar[int]
    REFUSED_DEADLINE_FIELD_NUMBER: _ClassVar[int]
    REFUSED_WAIT_FIELD_NUMBER: _ClassVar[int]
    bytes_in_flight: int
    calls_in_flight: int
    cancelled_calls: int
    execution_ns: int
    expected_wait_ns: int
    expired_calls: int
    failed_calls: int
    inline_calls: int
    input_bytes: int
    output_bytes: int
    queue_wait_ns: int
    queued_calls: int
    refused_bytes: int
    refused_calls: int
    refused_deadline: int
    refused_wait: int
    def __init__(self, inline_calls: _Optional[int] = ..., queued_calls: _Optional[int] = ..., failed_calls: _Optional[int] = ..., input_bytes: _Optional[int] = ..., output_bytes: _Optional[int] = ..., refused_calls: _Optional[int] = ..., refused_bytes: _Optional[int] = ..., refused_wait: _Optional[int] = ..., refused_deadline: _Optional[int] = ..., expired_calls: _Optional[int] = ..., cancelled_calls: _Optional[int] = ..., queue_wait_ns: _Optional[int] = ..., execution_ns: _Optional[int] = ..., calls_in_flight: _Optional[int] = ..., bytes_in_flight: _Optional[int] = ..., expected_wait_ns: _Optional[int] = ...) -> None: ...

class GetStatisticsRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class GetStatisticsResponse(_message.Message):
    __slots__ = ["batches", "devices", "engine", "errors", "methods", "operators", "sessions", "shared_memory", "uptime_ns"]
    BATCHES_FIELD_NUMBER: _ClassVar[int]
    DEVICES_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    METHODS_FIELD_NUMBER: _ClassVar[int]
    OPERATORS_FIELD_NUMBER: _ClassVar[int]
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    SHARED_MEMORY_FIELD_NUMBER: _ClassVar[int]
    UPTIME_NS_FIELD_NUMBER: _ClassVar[int]
    batches: BatchStatistics
    devices: _containers.RepeatedCompositeFieldContainer[DeviceStatistics]
    engine: EngineStatistics
    errors: _containers.RepeatedCompositeFieldContainer[ReasonCount]
    methods: _containers.RepeatedCompositeFieldContainer[MethodStatistics]
    operators: _containers.RepeatedCompositeFieldContainer[OperatorStatistics]
    sessions: SessionStatistics
    shared_memory: SharedMemoryStatistics
    uptime_ns: int
    def __init__(self, uptime_ns: _Optional[int] = ..., methods: _Optional[_Iterable[_Union[MethodStatistics, _Mapping]]] = ..., errors: _Optional[_Iterable[_Union[ReasonCount, _Mapping]]] = ..., batches: _Optional[_Union[BatchStatistics, _Mapping]] = ..., sessions: _Optional[_Union[SessionStatistics, _Mapping]] = ..., engine: _Optional[_Union[EngineStatistics, _Mapping]] = ..., devices: _Optional[_Iterable[_Union[DeviceStatistics, _Mapping]]] = ..., shared_memory: _Optional[_Union[SharedMemoryStatistics, _Mapping]] = ..., operators: _Optional[_Iterable[_Union[OperatorStatistics, _Mapping]]] = ...) -> None: ...

class MethodStatistics(_message.Message):
    __slots__ = ["ended", "in_flight", "method", "request_bytes", "response_bytes"]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    REQUEST_BYTES_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_BYTES_FIELD_NUMBER: _ClassVar[int]
    ended: _containers.RepeatedCompositeFieldContainer[StatusCount]
    in_flight: int
    method: str
    request_bytes: int
    response_bytes: int
    def __init__(self, method: _Optional[str] = ..., ended: _Optional[_Iterable[_Union[StatusCount, _Mapping]]] = ..., in_flight: _Optional[int] = ..., request_bytes: _Optional[int] = ..., response_bytes: _Optional[int] = ...) -> None: ...

class OperatorStatistics(_message.Message):
    __slots__ = ["calls", "execution_ns", "failed_calls", "input_bytes", "op", "output_bytes", "queue_wait_ns"]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_NS_FIELD_NUMBER: _ClassVar[int]
    FAILED_CALLS_FIELD_NUMBER: _ClassVar[int]
    INPUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    OP_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    QUEUE_WAIT_NS_FIELD_NUMBER: _ClassVar[int]
    calls: int
    execution_ns: int
    failed_calls: int
    input_bytes: int
    op: str
    output_bytes: int
    queue_wait_ns: int
    def __init__(self, op: _Optional[str] = ..., calls: _Optional[int] = ..., failed_calls: _Optional[int] = ..., queue_wait_ns: _Optional[int] = ..., execution_ns: _Optional[int] = ..., input_bytes: _Optional[int] = ..., output_bytes: _Optional[int] = ...) -> None: ...

class ReasonCount(_message.Message):
    __slots__ = ["errors", "reason"]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    errors: int
    reason: str
    def __init__(self, reason: _Optional[str] = ..., errors: _Optional[int] = ...) -> None: ...

class SessionStatistics(_message.Message):
    __slots__ = ["answers", "commands", "failed_commands", "open", "opened", "refused", "request_bytes", "response_bytes"]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    COMMANDS_FIELD_NUMBER: _ClassVar[int]
    FAILED_COMMANDS_FIELD_NUMBER: _ClassVar[int]
    OPENED_FIELD_NUMBER: _ClassVar[int]
    OPEN_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    REQUEST_BYTES_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_BYTES_FIELD_NUMBER: _ClassVar[int]
    answers: int
    commands: int
    failed_commands: int
    open: int
    opened: int
    refused: int
    request_bytes: int
    response_bytes: int
    def __init__(self, open: _Optional[int] = ..., opened: _Optional[int] = ..., refused: _Optional[int] = ..., commands: _Optional[int] = ..., answers: _Optional[int] = ..., failed_commands: _Optional[int] = ..., request_bytes: _Optional[int] = ..., response_bytes: _Optional[int] = ...) -> None: ...

class SharedMemoryStatistics(_message.Message):
    __slots__ = ["allocated", "bytes", "limit_bytes", "refused", "regions"]
    ALLOCATED_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    LIMIT_BYTES_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    REGIONS_FIELD_NUMBER: _ClassVar[int]
    allocated: int
    bytes: int
    limit_bytes: int
    refused: int
    regions: int
    def __init__(self, regions: _Optional[int] = ..., bytes: _Optional[int] = ..., limit_bytes: _Optional[int] = ..., allocated: _Optional[int] = ..., refused: _Optional[int] = ...) -> None: ...

class StatusCount(_message.Message):
    __slots__ = ["calls", "code", "name"]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    calls: int
    code: int
    name: str
    def __init__(self, code: _Optional[int] = ..., name: _Optional[str] = ..., calls: _Optional[int] = ...) -> None: ...
