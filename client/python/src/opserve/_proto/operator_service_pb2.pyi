from . import status_pb2 as _status_pb2
from . import statistics_pb2 as _statistics_pb2
from . import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

ATTRIBUTE_KIND_BOOL: AttributeKind
ATTRIBUTE_KIND_BOOL_LIST: AttributeKind
ATTRIBUTE_KIND_FLOAT: AttributeKind
ATTRIBUTE_KIND_INT: AttributeKind
ATTRIBUTE_KIND_INT_LIST: AttributeKind
ATTRIBUTE_KIND_SCALAR: AttributeKind
ATTRIBUTE_KIND_UNSPECIFIED: AttributeKind
DESCRIPTOR: _descriptor.FileDescriptor
DEVICE_STATE_LOST: DeviceState
DEVICE_STATE_UNSPECIFIED: DeviceState
DEVICE_STATE_WORKING: DeviceState
TENSOR_ENCODING_RAW: TensorEncoding
TENSOR_ENCODING_UNSPECIFIED: TensorEncoding
TENSOR_ENCODING_VALUES: TensorEncoding

class AttributeChoice(_message.Message):
    __slots__ = ["name", "summary", "value"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    summary: str
    value: int
    def __init__(self, value: _Optional[int] = ..., name: _Optional[str] = ..., summary: _Optional[str] = ...) -> None: ...

class AttributeParameter(_message.Message):
    __slots__ = ["choices", "default_value", "kind", "list_length", "name", "range", "summary"]
    CHOICES_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_VALUE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LIST_LENGTH_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    RANGE_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    choices: _containers.RepeatedCompositeFieldContainer[AttributeChoice]
    default_value: _types_pb2.Attribute
    kind: AttributeKind
    list_length: int
    name: str
    range: AttributeRange
    summary: str
    def __init__(self, name: _Optional[str] = ..., summary: _Optional[str] = ..., kind: _Optional[_Union[AttributeKind, str]] = ..., default_value: _Optional[_Union[_types_pb2.Attribute, _Mapping]] = ..., choices: _Optional[_Iterable[_Union[AttributeChoice, _Mapping]]] = ..., range: _Optional[_Union[AttributeRange, _Mapping]] = ..., list_length: _Optional[int] = ...) -> None: ...

class AttributeRange(_message.Message):
    __slots__ = ["maximum", "maximum_excluded", "minimum", "minimum_excluded"]
    MAXIMUM_EXCLUDED_FIELD_NUMBER: _ClassVar[int]
    MAXIMUM_FIELD_NUMBER: _ClassVar[int]
    MINIMUM_EXCLUDED_FIELD_NUMBER: _ClassVar[int]
    MINIMUM_FIELD_NUMBER: _ClassVar[int]
    maximum: float
    maximum_excluded: bool
    minimum: float
    minimum_excluded: bool
    def __init__(self, minimum: _Optional[float] = ..., maximum: _Optional[float] = ..., minimum_excluded: bool = ..., maximum_excluded: bool = ...) -> None: ...

class BatchResult(_message.Message):
    __slots__ = ["error", "execution", "outputs"]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    error: _status_pb2.Status
    execution: _types_pb2.Execution
    outputs: _containers.RepeatedCompositeFieldContainer[_types_pb2.Tensor]
    def __init__(self, outputs: _Optional[_Iterable[_Union[_types_pb2.Tensor, _Mapping]]] = ..., error: _Optional[_Union[_status_pb2.Status, _Mapping]] = ..., execution: _Optional[_Union[_types_pb2.Execution, _Mapping]] = ...) -> None: ...

class CostEstimate(_message.Message):
    __slots__ = ["bytes", "expected_ns", "operations", "runs_inline"]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_NS_FIELD_NUMBER: _ClassVar[int]
    OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    RUNS_INLINE_FIELD_NUMBER: _ClassVar[int]
    bytes: int
    expected_ns: int
    operations: int
    runs_inline: bool
    def __init__(self, bytes: _Optional[int] = ..., operations: _Optional[int] = ..., expected_ns: _Optional[int] = ..., runs_inline: bool = ...) -> None: ...

class Device(_message.Message):
    __slots__ = ["description", "kind", "memory", "name", "operators", "profile", "state", "state_reason", "threads"]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OPERATORS_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STATE_REASON_FIELD_NUMBER: _ClassVar[int]
    THREADS_FIELD_NUMBER: _ClassVar[int]
    description: str
    kind: str
    memory: _types_pb2.MemoryInfo
    name: str
    operators: _containers.RepeatedScalarFieldContainer[str]
    profile: str
    state: DeviceState
    state_reason: str
    threads: int
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[str] = ..., profile: _Optional[str] = ..., description: _Optional[str] = ..., threads: _Optional[int] = ..., operators: _Optional[_Iterable[str]] = ..., memory: _Optional[_Union[_types_pb2.MemoryInfo, _Mapping]] = ..., state: _Optional[_Union[DeviceState, str]] = ..., state_reason: _Optional[str] = ...) -> None: ...

class ExecuteBatchRequest(_message.Message):
    __slots__ = ["calls", "output_encoding", "raw"]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_ENCODING_FIELD_NUMBER: _ClassVar[int]
    RAW_FIELD_NUMBER: _ClassVar[int]
    calls: _containers.RepeatedCompositeFieldContainer[_types_pb2.Call]
    output_encoding: TensorEncoding
    raw: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, calls: _Optional[_Iterable[_Union[_types_pb2.Call, _Mapping]]] = ..., output_encoding: _Optional[_Union[TensorEncoding, str]] = ..., raw: _Optional[_Iterable[bytes]] = ...) -> None: ...

class ExecuteBatchResponse(_message.Message):
    __slots__ = ["raw", "results"]
    RAW_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    raw: _containers.RepeatedScalarFieldContainer[bytes]
    results: _containers.RepeatedCompositeFieldContainer[BatchResult]
    def __init__(self, results: _Optional[_Iterable[_Union[BatchResult, _Mapping]]] = ..., raw: _Optional[_Iterable[bytes]] = ...) -> None: ...

class ExecuteRequest(_message.Message):
    __slots__ = ["call", "output_encoding", "raw"]
    CALL_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_ENCODING_FIELD_NUMBER: _ClassVar[int]
    RAW_FIELD_NUMBER: _ClassVar[int]
    call: _types_pb2.Call
    output_encoding: TensorEncoding
    raw: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, call: _Optional[_Union[_types_pb2.Call, _Mapping]] = ..., output_encoding: _Optional[_Union[TensorEncoding, str]] = ..., raw: _Optional[_Iterable[bytes]] = ...) -> None: ...

class ExecuteResponse(_message.Message):
    __slots__ = ["execution", "outputs", "raw"]
    EXECUTION_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    RAW_FIELD_NUMBER: _ClassVar[int]
    execution: _types_pb2.Execution
    outputs: _containers.RepeatedCompositeFieldContainer[_types_pb2.Tensor]
    raw: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, outputs: _Optional[_Iterable[_Union[_types_pb2.Tensor, _Mapping]]] = ..., execution: _Optional[_Union[_types_pb2.Execution, _Mapping]] = ..., raw: _Optional[_Iterable[bytes]] = ...) -> None: ...

class GetServerInfoRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class GetServerInfoResponse(_message.Message):
    __slots__ = ["features", "max_attribute_elements", "max_batch_calls", "max_batch_raw_entries", "max_call_time_ns", "max_header_bytes", "max_inflated_bytes", "max_message_bytes", "max_name_bytes", "max_program_steps", "max_rank", "max_raw_entries", "max_session_commands", "max_values_bytes", "memory_limit_bytes", "recommended_chunk_bytes", "shared_memory_limit_bytes", "shared_memory_socket", "version"]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    MAX_ATTRIBUTE_ELEMENTS_FIELD_NUMBER: _ClassVar[int]
    MAX_BATCH_CALLS_FIELD_NUMBER: _ClassVar[int]
    MAX_BATCH_RAW_ENTRIES_FIELD_NUMBER: _ClassVar[int]
    MAX_CALL_TIME_NS_FIELD_NUMBER: _ClassVar[int]
    MAX_HEADER_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_INFLATED_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_MESSAGE_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_NAME_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_PROGRAM_STEPS_FIELD_NUMBER: _ClassVar[int]
    MAX_RANK_FIELD_NUMBER: _ClassVar[int]
    MAX_RAW_ENTRIES_FIELD_NUMBER: _ClassVar[int]
    MAX_SESSION_COMMANDS_FIELD_NUMBER: _ClassVar[int]
    MAX_VALUES_BYTES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_LIMIT_BYTES_FIELD_NUMBER: _ClassVar[int]
    RECOMMENDED_CHUNK_BYTES_FIELD_NUMBER: _ClassVar[int]
    SHARED_MEMORY_LIMIT_BYTES_FIELD_NUMBER: _ClassVar[int]
    SHARED_MEMORY_SOCKET_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    features: _containers.RepeatedScalarFieldContainer[str]
    max_attribute_elements: int
    max_batch_calls: int
    max_batch_raw_entries: int
    max_call_time_ns: int
    max_header_bytes: int
    max_inflated_bytes: int
    max_message_bytes: int
    max_name_bytes: int
    max_program_steps: int
    max_rank: int
    max_raw_entries: int
    max_session_commands: int
    max_values_bytes: int
    memory_limit_bytes: int
    recommended_chunk_bytes: int
    shared_memory_limit_bytes: int
    shared_memory_socket: str
    version: str
    def __init__(self, version: _Optional[str] = ..., max_message_bytes: _Optional[int] = ..., memory_limit_bytes: _Optional[int] = ..., recommended_chunk_bytes: _Optional[int] = ..., max_rank: _Optional[int] = ..., shared_memory_socket: _Optional[str] = ..., shared_memory_limit_bytes: _Optional[int] = ..., features: _Optional[_Iterable[str]] = ..., max_header_bytes: _Optional[int] = ..., max_raw_entries: _Optional[int] = ..., max_batch_raw_entries: _Optional[int] = ..., max_batch_calls: _Optional[int] = ..., max_session_commands: _Optional[int] = ..., max_name_bytes: _Optional[int] = ..., max_attribute_elements: _Optional[int] = ..., max_values_bytes: _Optional[int] = ..., max_inflated_bytes: _Optional[int] = ..., max_call_time_ns: _Optional[int] = ..., max_program_steps: _Optional[int] = ...) -> None: ...

class GetWorkspaceSizeRequest(_message.Message):
    __slots__ = ["call"]
    CALL_FIELD_NUMBER: _ClassVar[int]
    call: _types_pb2.Call
    def __init__(self, call: _Optional[_Union[_types_pb2.Call, _Mapping]] = ...) -> None: ...

class GetWorkspaceSizeResponse(_message.Message):
    __slots__ = ["cost", "device", "input_bytes", "output_bytes", "outputs", "program", "workspace_bytes"]
    COST_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    INPUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_BYTES_FIELD_NUMBER: _ClassVar[int]
    cost: CostEstimate
    device: str
    input_bytes: int
    output_bytes: int
    outputs: _containers.RepeatedCompositeFieldContainer[_types_pb2.Tensor]
    program: ProgramPlan
    workspace_bytes: int
    def __init__(self, workspace_bytes: _Optional[int] = ..., outputs: _Optional[_Iterable[_Union[_types_pb2.Tensor, _Mapping]]] = ..., input_bytes: _Optional[int] = ..., output_bytes: _Optional[int] = ..., device: _Optional[str] = ..., cost: _Optional[_Union[CostEstimate, _Mapping]] = ..., program: _Optional[_Union[ProgramPlan, _Mapping]] = ...) -> None: ...

class Gradient(_message.Message):
    __slots__ = ["attributes", "inputs", "op", "output_mask", "outputs"]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    OP_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_MASK_FIELD_NUMBER: _ClassVar[int]
    attributes: _containers.RepeatedCompositeFieldContainer[GradientAttribute]
    inputs: _containers.RepeatedCompositeFieldContainer[GradientInput]
    op: str
    output_mask: str
    outputs: _containers.RepeatedCompositeFieldContainer[GradientOutput]
    def __init__(self, op: _Optional[str] = ..., inputs: _Optional[_Iterable[_Union[GradientInput, _Mapping]]] = ..., outputs: _Optional[_Iterable[_Union[GradientOutput, _Mapping]]] = ..., output_mask: _Optional[str] = ..., attributes: _Optional[_Iterable[_Union[GradientAttribute, _Mapping]]] = ...) -> None: ...

class GradientAttribute(_message.Message):
    __slots__ = ["attribute", "name", "value"]
    ATTRIBUTE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    attribute: str
    name: str
    value: _types_pb2.Attribute
    def __init__(self, name: _Optional[str] = ..., attribute: _Optional[str] = ..., value: _Optional[_Union[_types_pb2.Attribute, _Mapping]] = ...) -> None: ...

class GradientInput(_message.Message):
    __slots__ = ["input", "name", "output", "output_gradient"]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_GRADIENT_FIELD_NUMBER: _ClassVar[int]
    input: str
    name: str
    output: str
    output_gradient: str
    def __init__(self, name: _Optional[str] = ..., input: _Optional[str] = ..., output: _Optional[str] = ..., output_gradient: _Optional[str] = ...) -> None: ...

class GradientOutput(_message.Message):
    __slots__ = ["input", "name"]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    input: str
    name: str
    def __init__(self, name: _Optional[str] = ..., input: _Optional[str] = ...) -> None: ...

class ListDevicesRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class ListDevicesResponse(_message.Message):
    __slots__ = ["devices"]
    DEVICES_FIELD_NUMBER: _ClassVar[int]
    devices: _containers.RepeatedCompositeFieldContainer[Device]
    def __init__(self, devices: _Optional[_Iterable[_Union[Device, _Mapping]]] = ...) -> None: ...

class ListOperatorsRequest(_message.Message):
    __slots__ = ["names"]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, names: _Optional[_Iterable[str]] = ...) -> None: ...

class ListOperatorsResponse(_message.Message):
    __slots__ = ["operators"]
    OPERATORS_FIELD_NUMBER: _ClassVar[int]
    operators: _containers.RepeatedCompositeFieldContainer[OperatorSchema]
    def __init__(self, operators: _Optional[_Iterable[_Union[OperatorSchema, _Mapping]]] = ...) -> None: ...

class OperatorSchema(_message.Message):
    __slots__ = ["attributes", "description", "family", "gradient", "inputs", "name", "outputs", "streams_in_chunks", "summary", "support"]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    FAMILY_FIELD_NUMBER: _ClassVar[int]
    GRADIENT_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    STREAMS_IN_CHUNKS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    SUPPORT_FIELD_NUMBER: _ClassVar[int]
    attributes: _containers.RepeatedCompositeFieldContainer[AttributeParameter]
    description: str
    family: str
    gradient: Gradient
    inputs: _containers.RepeatedCompositeFieldContainer[TensorParameter]
    name: str
    outputs: _containers.RepeatedCompositeFieldContainer[TensorParameter]
    streams_in_chunks: bool
    summary: str
    support: _containers.RepeatedCompositeFieldContainer[ProfileSupport]
    def __init__(self, name: _Optional[str] = ..., summary: _Optional[str] = ..., description: _Optional[str] = ..., inputs: _Optional[_Iterable[_Union[TensorParameter, _Mapping]]] = ..., attributes: _Optional[_Iterable[_Union[AttributeParameter, _Mapping]]] = ..., outputs: _Optional[_Iterable[_Union[TensorParameter, _Mapping]]] = ..., support: _Optional[_Iterable[_Union[ProfileSupport, _Mapping]]] = ..., streams_in_chunks: bool = ..., gradient: _Optional[_Union[Gradient, _Mapping]] = ..., family: _Optional[str] = ...) -> None: ...

class ProfileSupport(_message.Message):
    __slots__ = ["dtypes", "profile"]
    DTYPES_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    dtypes: _containers.RepeatedScalarFieldContainer[_types_pb2.DataType]
    profile: str
    def __init__(self, profile: _Optional[str] = ..., dtypes: _Optional[_Iterable[_Union[_types_pb2.DataType, str]]] = ...) -> None: ...

class ProgramPlan(_message.Message):
    __slots__ = ["call", "intermediate_bytes", "steps"]
    CALL_FIELD_NUMBER: _ClassVar[int]
    INTERMEDIATE_BYTES_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    call: _types_pb2.Call
    intermediate_bytes: int
    steps: _containers.RepeatedCompositeFieldContainer[StepPlan]
    def __init__(self, call: _Optional[_Union[_types_pb2.Call, _Mapping]] = ..., steps: _Optional[_Iterable[_Union[StepPlan, _Mapping]]] = ..., intermediate_bytes: _Optional[int] = ...) -> None: ...

class StepPlan(_message.Message):
    __slots__ = ["outputs"]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    outputs: _containers.RepeatedCompositeFieldContainer[_types_pb2.Tensor]
    def __init__(self, outputs: _Optional[_Iterable[_Union[_types_pb2.Tensor, _Mapping]]] = ...) -> None: ...

class TensorParameter(_message.Message):
    __slots__ = ["dtypes", "name", "optional", "shape", "summary"]
    DTYPES_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OPTIONAL_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    dtypes: _containers.RepeatedScalarFieldContainer[_types_pb2.DataType]
    name: str
    optional: bool
    shape: str
    summary: str
    def __init__(self, name: _Optional[str] = ..., summary: _Optional[str] = ..., optional: bool = ..., dtypes: _Optional[_Iterable[_Union[_types_pb2.DataType, str]]] = ..., shape: _Optional[str] = ...) -> None: ...

class AttributeKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class DeviceState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class TensorEncoding(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
