from . import status_pb2 as _status_pb2
from . import operator_service_pb2 as _operator_service_pb2
from . import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
ON_FAILURE_CONTINUE: OnFailure
ON_FAILURE_STOP: OnFailure
ON_FAILURE_UNSPECIFIED: OnFailure

class AllocateCommand(_message.Message):
    __slots__ = ["buffer", "context", "size_bytes"]
    BUFFER_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    buffer: int
    context: int
    size_bytes: int
    def __init__(self, buffer: _Optional[int] = ..., context: _Optional[int] = ..., size_bytes: _Optional[int] = ...) -> None: ...

class Answer(_message.Message):
    __slots__ = ["chunk", "draining", "elapsed_time", "error", "event", "executor", "failed_command", "id", "info", "memory", "more", "outputs", "stream"]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_TIME_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    EXECUTOR_FIELD_NUMBER: _ClassVar[int]
    FAILED_COMMAND_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    INFO_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    MORE_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    chunk: OutputChunk
    draining: Draining
    elapsed_time: ElapsedTime
    error: _status_pb2.Status
    event: EventState
    executor: ExecutorInfo
    failed_command: int
    id: int
    info: SessionInfo
    memory: MemoryState
    more: bool
    outputs: ExecuteOutputs
    stream: StreamState
    def __init__(self, id: _Optional[int] = ..., more: bool = ..., error: _Optional[_Union[_status_pb2.Status, _Mapping]] = ..., failed_command: _Optional[int] = ..., info: _Optional[_Union[SessionInfo, _Mapping]] = ..., draining: _Optional[_Union[Draining, _Mapping]] = ..., event: _Optional[_Union[EventState, _Mapping]] = ..., stream: _Optional[_Union[StreamState, _Mapping]] = ..., elapsed_time: _Optional[_Union[ElapsedTime, _Mapping]] = ..., memory: _Optional[_Union[MemoryState, _Mapping]] = ..., executor: _Optional[_Union[ExecutorInfo, _Mapping]] = ..., outputs: _Optional[_Union[ExecuteOutputs, _Mapping]] = ..., chunk: _Optional[_Union[OutputChunk, _Mapping]] = ...) -> None: ...

class BufferRange(_message.Message):
    __slots__ = ["buffer", "offset_bytes", "row_bytes", "rows", "stride_bytes"]
    BUFFER_FIELD_NUMBER: _ClassVar[int]
    OFFSET_BYTES_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    ROW_BYTES_FIELD_NUMBER: _ClassVar[int]
    STRIDE_BYTES_FIELD_NUMBER: _ClassVar[int]
    buffer: int
    offset_bytes: int
    row_bytes: int
    rows: int
    stride_bytes: int
    def __init__(self, buffer: _Optional[int] = ..., offset_bytes: _Optional[int] = ..., row_bytes: _Optional[int] = ..., rows: _Optional[int] = ..., stride_bytes: _Optional[int] = ...) -> None: ...

class CancelCommand(_message.Message):
    __slots__ = ["command"]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    command: int
    def __init__(self, command: _Optional[int] = ...) -> None: ...

class Command(_message.Message):
    __slots__ = ["allocate", "cancel", "copy", "create_context", "create_event", "create_executor", "create_stream", "destroy_context", "destroy_event", "destroy_executor", "destroy_stream", "download", "execute", "execute_chunked", "fill", "free", "id", "input_chunk", "query_elapsed_time", "query_event", "query_memory", "query_stream", "quiet", "record_event", "run_executor", "set_tensors", "synchronize", "timeout_ns", "upload", "wait_event"]
    ALLOCATE_FIELD_NUMBER: _ClassVar[int]
    CANCEL_FIELD_NUMBER: _ClassVar[int]
    COPY_FIELD_NUMBER: _ClassVar[int]
    CREATE_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    CREATE_EVENT_FIELD_NUMBER: _ClassVar[int]
    CREATE_EXECUTOR_FIELD_NUMBER: _ClassVar[int]
    CREATE_STREAM_FIELD_NUMBER: _ClassVar[int]
    DESTROY_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    DESTROY_EVENT_FIELD_NUMBER: _ClassVar[int]
    DESTROY_EXECUTOR_FIELD_NUMBER: _ClassVar[int]
    DESTROY_STREAM_FIELD_NUMBER: _ClassVar[int]
    DOWNLOAD_FIELD_NUMBER: _ClassVar[int]
    EXECUTE_CHUNKED_FIELD_NUMBER: _ClassVar[int]
    EXECUTE_FIELD_NUMBER: _ClassVar[int]
    FILL_FIELD_NUMBER: _ClassVar[int]
    FREE_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_CHUNK_FIELD_NUMBER: _ClassVar[int]
    QUERY_ELAPSED_TIME_FIELD_NUMBER: _ClassVar[int]
    QUERY_EVENT_FIELD_NUMBER: _ClassVar[int]
    QUERY_MEMORY_FIELD_NUMBER: _ClassVar[int]
    QUERY_STREAM_FIELD_NUMBER: _ClassVar[int]
    QUIET_FIELD_NUMBER: _ClassVar[int]
    RECORD_EVENT_FIELD_NUMBER: _ClassVar[int]
    RUN_EXECUTOR_FIELD_NUMBER: _ClassVar[int]
    SET_TENSORS_FIELD_NUMBER: _ClassVar[int]
    SYNCHRONIZE_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_NS_FIELD_NUMBER: _ClassVar[int]
    UPLOAD_FIELD_NUMBER: _ClassVar[int]
    WAIT_EVENT_FIELD_NUMBER: _ClassVar[int]
    allocate: AllocateCommand
    cancel: CancelCommand
    copy: CopyCommand
    create_context: CreateContextCommand
    create_event: CreateEventCommand
    create_executor: CreateExecutorCommand
    create_stream: CreateStreamCommand
    destroy_context: DestroyContextCommand
    destroy_event: DestroyEventCommand
    destroy_executor: DestroyExecutorCommand
    destroy_stream: DestroyStreamCommand
    download: DownloadCommand
    execute: ExecuteCommand
    execute_chunked: ExecuteChunkedCommand
    fill: FillCommand
    free: FreeCommand
    id: int
    input_chunk: InputChunkCommand
    query_elapsed_time: QueryElapsedTimeCommand
    query_event: QueryEventCommand
    query_memory: QueryMemoryCommand
    query_stream: QueryStreamCommand
    quiet: bool
    record_event: RecordEventCommand
    run_executor: RunExecutorCommand
    set_tensors: SetTensorsCommand
    synchronize: SynchronizeCommand
    timeout_ns: int
    upload: UploadCommand
    wait_event: WaitEventCommand
    def __init__(self, id: _Optional[int] = ..., quiet: bool = ..., create_context: _Optional[_Union[CreateContextCommand, _Mapping]] = ..., destroy_context: _Optional[_Union[DestroyContextCommand, _Mapping]] = ..., create_stream: _Optional[_Union[CreateStreamCommand, _Mapping]] = ..., destroy_stream: _Optional[_Union[DestroyStreamCommand, _Mapping]] = ..., create_event: _Optional[_Union[CreateEventCommand, _Mapping]] = ..., destroy_event: _Optional[_Union[DestroyEventCommand, _Mapping]] = ..., record_event: _Optional[_Union[RecordEventCommand, _Mapping]] = ..., wait_event: _Optional[_Union[WaitEventCommand, _Mapping]] = ..., query_event: _Optional[_Union[QueryEventCommand, _Mapping]] = ..., query_stream: _Optional[_Union[QueryStreamCommand, _Mapping]] = ..., query_elapsed_time: _Optional[_Union[QueryElapsedTimeCommand, _Mapping]] = ..., synchronize: _Optional[_Union[SynchronizeCommand, _Mapping]] = ..., allocate: _Optional[_Union[AllocateCommand, _Mapping]] = ..., free: _Optional[_Union[FreeCommand, _Mapping]] = ..., query_memory: _Optional[_Union[QueryMemoryCommand, _Mapping]] = ..., upload: _Optional[_Union[UploadCommand, _Mapping]] = ..., download: _Optional[_Union[DownloadCommand, _Mapping]] = ..., copy: _Optional[_Union[CopyCommand, _Mapping]] = ..., fill: _Optional[_Union[FillCommand, _Mapping]] = ..., create_executor: _Optional[_Union[CreateExecutorCommand, _Mapping]] = ..., set_tensors: _Optional[_Union[SetTensorsCommand, _Mapping]] = ..., run_executor: _Optional[_Union[RunExecutorCommand, _Mapping]] = ..., destroy_executor: _Optional[_Union[DestroyExecutorCommand, _Mapping]] = ..., execute: _Optional[_Union[ExecuteCommand, _Mapping]] = ..., execute_chunked: _Optional[_Union[ExecuteChunkedCommand, _Mapping]] = ..., input_chunk: _Optional[_Union[InputChunkCommand, _Mapping]] = ..., cancel: _Optional[_Union[CancelCommand, _Mapping]] = ..., timeout_ns: _Optional[int] = ...) -> None: ...

class CopyCommand(_message.Message):
    __slots__ = ["destination", "source", "stream"]
    DESTINATION_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    destination: BufferRange
    source: BufferRange
    stream: int
    def __init__(self, source: _Optional[_Union[BufferRange, _Mapping]] = ..., destination: _Optional[_Union[BufferRange, _Mapping]] = ..., stream: _Optional[int] = ...) -> None: ...

class CreateContextCommand(_message.Message):
    __slots__ = ["context", "device"]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    context: int
    device: str
    def __init__(self, context: _Optional[int] = ..., device: _Optional[str] = ...) -> None: ...

class CreateEventCommand(_message.Message):
    __slots__ = ["context", "event"]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    context: int
    event: int
    def __init__(self, event: _Optional[int] = ..., context: _Optional[int] = ...) -> None: ...

class CreateExecutorCommand(_message.Message):
    __slots__ = ["call", "context", "executor", "repeatable"]
    CALL_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    EXECUTOR_FIELD_NUMBER: _ClassVar[int]
    REPEATABLE_FIELD_NUMBER: _ClassVar[int]
    call: _types_pb2.Call
    context: int
    executor: int
    repeatable: bool
    def __init__(self, executor: _Optional[int] = ..., context: _Optional[int] = ..., call: _Optional[_Union[_types_pb2.Call, _Mapping]] = ..., repeatable: bool = ...) -> None: ...

class CreateStreamCommand(_message.Message):
    __slots__ = ["context", "on_failure", "stream"]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    ON_FAILURE_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    context: int
    on_failure: OnFailure
    stream: int
    def __init__(self, stream: _Optional[int] = ..., context: _Optional[int] = ..., on_failure: _Optional[_Union[OnFailure, str]] = ...) -> None: ...

class DestroyContextCommand(_message.Message):
    __slots__ = ["context"]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    context: int
    def __init__(self, context: _Optional[int] = ...) -> None: ...

class DestroyEventCommand(_message.Message):
    __slots__ = ["event"]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: int
    def __init__(self, event: _Optional[int] = ...) -> None: ...

class DestroyExecutorCommand(_message.Message):
    __slots__ = ["executor"]
    EXECUTOR_FIELD_NUMBER: _ClassVar[int]
    executor: int
    def __init__(self, executor: _Optional[int] = ...) -> None: ...

class DestroyStreamCommand(_message.Message):
    __slots__ = ["stream"]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    stream: int
    def __init__(self, stream: _Optional[int] = ...) -> None: ...

class DownloadCommand(_message.Message):
    __slots__ = ["chunk_bytes", "detached", "source", "stream"]
    CHUNK_BYTES_FIELD_NUMBER: _ClassVar[int]
    DETACHED_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    chunk_bytes: int
    detached: bool
    source: BufferRange
    stream: int
    def __init__(self, source: _Optional[_Union[BufferRange, _Mapping]] = ..., stream: _Optional[int] = ..., chunk_bytes: _Optional[int] = ..., detached: bool = ...) -> None: ...

class Draining(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class ElapsedTime(_message.Message):
    __slots__ = ["elapsed_ns"]
    ELAPSED_NS_FIELD_NUMBER: _ClassVar[int]
    elapsed_ns: int
    def __init__(self, elapsed_ns: _Optional[int] = ...) -> None: ...

class EventState(_message.Message):
    __slots__ = ["reached"]
    REACHED_FIELD_NUMBER: _ClassVar[int]
    reached: bool
    def __init__(self, reached: bool = ...) -> None: ...

class ExecuteChunkedCommand(_message.Message):
    __slots__ = ["call"]
    CALL_FIELD_NUMBER: _ClassVar[int]
    call: _types_pb2.Call
    def __init__(self, call: _Optional[_Union[_types_pb2.Call, _Mapping]] = ...) -> None: ...

class ExecuteCommand(_message.Message):
    __slots__ = ["call", "output_encoding", "stream"]
    CALL_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_ENCODING_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    call: _types_pb2.Call
    output_encoding: _operator_service_pb2.TensorEncoding
    stream: int
    def __init__(self, call: _Optional[_Union[_types_pb2.Call, _Mapping]] = ..., output_encoding: _Optional[_Union[_operator_service_pb2.TensorEncoding, str]] = ..., stream: _Optional[int] = ...) -> None: ...

class ExecuteOutputs(_message.Message):
    __slots__ = ["execution", "outputs"]
    EXECUTION_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    execution: _types_pb2.Execution
    outputs: _containers.RepeatedCompositeFieldContainer[_types_pb2.Tensor]
    def __init__(self, outputs: _Optional[_Iterable[_Union[_types_pb2.Tensor, _Mapping]]] = ..., execution: _Optional[_Union[_types_pb2.Execution, _Mapping]] = ...) -> None: ...

class ExecutorInfo(_message.Message):
    __slots__ = ["outputs", "workspace_bytes"]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_BYTES_FIELD_NUMBER: _ClassVar[int]
    outputs: _containers.RepeatedCompositeFieldContainer[_types_pb2.Tensor]
    workspace_bytes: int
    def __init__(self, workspace_bytes: _Optional[int] = ..., outputs: _Optional[_Iterable[_Union[_types_pb2.Tensor, _Mapping]]] = ...) -> None: ...

class FillCommand(_message.Message):
    __slots__ = ["destination", "pattern", "stream"]
    DESTINATION_FIELD_NUMBER: _ClassVar[int]
    PATTERN_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    destination: BufferRange
    pattern: bytes
    stream: int
    def __init__(self, destination: _Optional[_Union[BufferRange, _Mapping]] = ..., pattern: _Optional[bytes] = ..., stream: _Optional[int] = ...) -> None: ...

class FreeCommand(_message.Message):
    __slots__ = ["buffer"]
    BUFFER_FIELD_NUMBER: _ClassVar[int]
    buffer: int
    def __init__(self, buffer: _Optional[int] = ...) -> None: ...

class InputChunkCommand(_message.Message):
    __slots__ = ["command", "input", "raw_index"]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    RAW_INDEX_FIELD_NUMBER: _ClassVar[int]
    command: int
    input: str
    raw_index: int
    def __init__(self, command: _Optional[int] = ..., input: _Optional[str] = ..., raw_index: _Optional[int] = ...) -> None: ...

class MemoryState(_message.Message):
    __slots__ = ["device", "limit_bytes", "peak_bytes", "used_bytes"]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_BYTES_FIELD_NUMBER: _ClassVar[int]
    PEAK_BYTES_FIELD_NUMBER: _ClassVar[int]
    USED_BYTES_FIELD_NUMBER: _ClassVar[int]
    device: _types_pb2.MemoryInfo
    limit_bytes: int
    peak_bytes: int
    used_bytes: int
    def __init__(self, limit_bytes: _Optional[int] = ..., used_bytes: _Optional[int] = ..., peak_bytes: _Optional[int] = ..., device: _Optional[_Union[_types_pb2.MemoryInfo, _Mapping]] = ...) -> None: ...

class OutputChunk(_message.Message):
    __slots__ = ["offset_bytes", "output", "raw_index"]
    OFFSET_BYTES_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    RAW_INDEX_FIELD_NUMBER: _ClassVar[int]
    offset_bytes: int
    output: str
    raw_index: int
    def __init__(self, output: _Optional[str] = ..., offset_bytes: _Optional[int] = ..., raw_index: _Optional[int] = ...) -> None: ...

class QueryElapsedTimeCommand(_message.Message):
    __slots__ = ["end", "start"]
    END_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    end: int
    start: int
    def __init__(self, start: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...

class QueryEventCommand(_message.Message):
    __slots__ = ["event"]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: int
    def __init__(self, event: _Optional[int] = ...) -> None: ...

class QueryMemoryCommand(_message.Message):
    __slots__ = ["context"]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    context: int
    def __init__(self, context: _Optional[int] = ...) -> None: ...

class QueryStreamCommand(_message.Message):
    __slots__ = ["stream"]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    stream: int
    def __init__(self, stream: _Optional[int] = ...) -> None: ...

class Rebinding(_message.Message):
    __slots__ = ["buffer", "name"]
    BUFFER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    buffer: _types_pb2.BufferView
    name: str
    def __init__(self, name: _Optional[str] = ..., buffer: _Optional[_Union[_types_pb2.BufferView, _Mapping]] = ...) -> None: ...

class RecordEventCommand(_message.Message):
    __slots__ = ["event", "stream"]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    event: int
    stream: int
    def __init__(self, event: _Optional[int] = ..., stream: _Optional[int] = ...) -> None: ...

class RunExecutorCommand(_message.Message):
    __slots__ = ["chunk_bytes", "executor", "send_outputs", "stream", "workspace"]
    CHUNK_BYTES_FIELD_NUMBER: _ClassVar[int]
    EXECUTOR_FIELD_NUMBER: _ClassVar[int]
    SEND_OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    chunk_bytes: int
    executor: int
    send_outputs: bool
    stream: int
    workspace: _types_pb2.BufferView
    def __init__(self, executor: _Optional[int] = ..., stream: _Optional[int] = ..., workspace: _Optional[_Union[_types_pb2.BufferView, _Mapping]] = ..., send_outputs: bool = ..., chunk_bytes: _Optional[int] = ...) -> None: ...

class SessionInfo(_message.Message):
    __slots__ = ["max_handles", "max_message_bytes", "max_queued_commands", "max_skew_bytes", "memory_limit_bytes", "recommended_chunk_bytes", "window_bytes"]
    MAX_HANDLES_FIELD_NUMBER: _ClassVar[int]
    MAX_MESSAGE_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_QUEUED_COMMANDS_FIELD_NUMBER: _ClassVar[int]
    MAX_SKEW_BYTES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_LIMIT_BYTES_FIELD_NUMBER: _ClassVar[int]
    RECOMMENDED_CHUNK_BYTES_FIELD_NUMBER: _ClassVar[int]
    WINDOW_BYTES_FIELD_NUMBER: _ClassVar[int]
    max_handles: int
    max_message_bytes: int
    max_queued_commands: int
    max_skew_bytes: int
    memory_limit_bytes: int
    recommended_chunk_bytes: int
    window_bytes: int
    def __init__(self, memory_limit_bytes: _Optional[int] = ..., max_handles: _Optional[int] = ..., max_queued_commands: _Optional[int] = ..., window_bytes: _Optional[int] = ..., max_skew_bytes: _Optional[int] = ..., recommended_chunk_bytes: _Optional[int] = ..., max_message_bytes: _Optional[int] = ...) -> None: ...

class SessionRequest(_message.Message):
    __slots__ = ["commands", "raw"]
    COMMANDS_FIELD_NUMBER: _ClassVar[int]
    RAW_FIELD_NUMBER: _ClassVar[int]
    commands: _containers.RepeatedCompositeFieldContainer[Command]
    raw: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, commands: _Optional[_Iterable[_Union[Command, _Mapping]]] = ..., raw: _Optional[_Iterable[bytes]] = ...) -> None: ...

class SessionResponse(_message.Message):
    __slots__ = ["answers", "raw"]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    RAW_FIELD_NUMBER: _ClassVar[int]
    answers: _containers.RepeatedCompositeFieldContainer[Answer]
    raw: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, answers: _Optional[_Iterable[_Union[Answer, _Mapping]]] = ..., raw: _Optional[_Iterable[bytes]] = ...) -> None: ...

class SetTensorsCommand(_message.Message):
    __slots__ = ["executor", "tensors"]
    EXECUTOR_FIELD_NUMBER: _ClassVar[int]
    TENSORS_FIELD_NUMBER: _ClassVar[int]
    executor: int
    tensors: _containers.RepeatedCompositeFieldContainer[Rebinding]
    def __init__(self, executor: _Optional[int] = ..., tensors: _Optional[_Iterable[_Union[Rebinding, _Mapping]]] = ...) -> None: ...

class StreamState(_message.Message):
    __slots__ = ["idle"]
    IDLE_FIELD_NUMBER: _ClassVar[int]
    idle: bool
    def __init__(self, idle: bool = ...) -> None: ...

class SynchronizeCommand(_message.Message):
    __slots__ = ["context", "event", "stream"]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    context: int
    event: int
    stream: int
    def __init__(self, stream: _Optional[int] = ..., event: _Optional[int] = ..., context: _Optional[int] = ...) -> None: ...

class UploadCommand(_message.Message):
    __slots__ = ["destination", "raw_index", "stream"]
    DESTINATION_FIELD_NUMBER: _ClassVar[int]
    RAW_INDEX_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    destination: BufferRange
    raw_index: int
    stream: int
    def __init__(self, destination: _Optional[_Union[BufferRange, _Mapping]] = ..., stream: _Optional[int] = ..., raw_index: _Optional[int] = ...) -> None: ...

class WaitEventCommand(_message.Message):
    __slots__ = ["event", "stream"]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    event: int
    stream: int
    def __init__(self, event: _Optional[int] = ..., stream: _Optional[int] = ...) -> None: ...

class OnFailure(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
