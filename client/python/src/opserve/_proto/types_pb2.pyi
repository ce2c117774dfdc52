from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DATA_TYPE_BFLOAT16: DataType
DATA_TYPE_BOOL: DataType
DATA_TYPE_FLOAT16: DataType
DATA_TYPE_FLOAT32: DataType
DATA_TYPE_FLOAT64: DataType
DATA_TYPE_INT16: DataType
DATA_TYPE_INT32: DataType
DATA_TYPE_INT64: DataType
DATA_TYPE_INT8: DataType
DATA_TYPE_UINT16: DataType
DATA_TYPE_UINT32: DataType
DATA_TYPE_UINT64: DataType
DATA_TYPE_UINT8: DataType
DATA_TYPE_UNSPECIFIED: DataType
DESCRIPTOR: _descriptor.FileDescriptor

class Attribute(_message.Message):
    __slots__ = ["bool_list", "bool_value", "float_list", "float_value", "int_list", "int_value", "name", "string_value"]
    BOOL_LIST_FIELD_NUMBER: _ClassVar[int]
    BOOL_VALUE_FIELD_NUMBER: _ClassVar[int]
    FLOAT_LIST_FIELD_NUMBER: _ClassVar[int]
    FLOAT_VALUE_FIELD_NUMBER: _ClassVar[int]
    INT_LIST_FIELD_NUMBER: _ClassVar[int]
    INT_VALUE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    STRING_VALUE_FIELD_NUMBER: _ClassVar[int]
    bool_list: BoolList
    bool_value: bool
    float_list: DoubleList
    float_value: float
    int_list: Int64List
    int_value: int
    name: str
    string_value: str
    def __init__(self, name: _Optional[str] = ..., int_value: _Optional[int] = ..., float_value: _Optional[float] = ..., bool_value: bool = ..., int_list: _Optional[_Union[Int64List, _Mapping]] = ..., bool_list: _Optional[_Union[BoolList, _Mapping]] = ..., float_list: _Optional[_Union[DoubleList, _Mapping]] = ..., string_value: _Optional[str] = ...) -> None: ...

class BoolList(_message.Message):
    __slots__ = ["values"]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[bool]
    def __init__(self, values: _Optional[_Iterable[bool]] = ...) -> None: ...

class BufferView(_message.Message):
    __slots__ = ["buffer", "offset_bytes"]
    BUFFER_FIELD_NUMBER: _ClassVar[int]
    OFFSET_BYTES_FIELD_NUMBER: _ClassVar[int]
    buffer: int
    offset_bytes: int
    def __init__(self, buffer: _Optional[int] = ..., offset_bytes: _Optional[int] = ...) -> None: ...

class Call(_message.Message):
    __slots__ = ["attributes", "device", "inputs", "op", "outputs", "program", "report_execution"]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    OP_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    REPORT_EXECUTION_FIELD_NUMBER: _ClassVar[int]
    attributes: _containers.RepeatedCompositeFieldContainer[Attribute]
    device: str
    inputs: _containers.RepeatedCompositeFieldContainer[Tensor]
    op: str
    outputs: _containers.RepeatedCompositeFieldContainer[Tensor]
    program: Program
    report_execution: bool
    def __init__(self, op: _Optional[str] = ..., inputs: _Optional[_Iterable[_Union[Tensor, _Mapping]]] = ..., attributes: _Optional[_Iterable[_Union[Attribute, _Mapping]]] = ..., outputs: _Optional[_Iterable[_Union[Tensor, _Mapping]]] = ..., device: _Optional[str] = ..., report_execution: bool = ..., program: _Optional[_Union[Program, _Mapping]] = ...) -> None: ...

class Chunked(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class DoubleList(_message.Message):
    __slots__ = ["values"]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, values: _Optional[_Iterable[float]] = ...) -> None: ...

class Execution(_message.Message):
    __slots__ = ["device", "executed_ns", "queued_ns"]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    EXECUTED_NS_FIELD_NUMBER: _ClassVar[int]
    QUEUED_NS_FIELD_NUMBER: _ClassVar[int]
    device: str
    executed_ns: int
    queued_ns: int
    def __init__(self, device: _Optional[str] = ..., queued_ns: _Optional[int] = ..., executed_ns: _Optional[int] = ...) -> None: ...

class GradientRequest(_message.Message):
    __slots__ = ["max_workspace_bytes", "of", "seed", "with_respect_to"]
    MAX_WORKSPACE_BYTES_FIELD_NUMBER: _ClassVar[int]
    OF_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    WITH_RESPECT_TO_FIELD_NUMBER: _ClassVar[int]
    max_workspace_bytes: int
    of: str
    seed: str
    with_respect_to: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, of: _Optional[str] = ..., with_respect_to: _Optional[_Iterable[str]] = ..., seed: _Optional[str] = ..., max_workspace_bytes: _Optional[int] = ...) -> None: ...

class Int64List(_message.Message):
    __slots__ = ["values"]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, values: _Optional[_Iterable[int]] = ...) -> None: ...

class MemoryInfo(_message.Message):
    __slots__ = ["cached_bytes", "hits", "largest_lease_bytes", "limit_bytes", "misses", "used_bytes"]
    CACHED_BYTES_FIELD_NUMBER: _ClassVar[int]
    HITS_FIELD_NUMBER: _ClassVar[int]
    LARGEST_LEASE_BYTES_FIELD_NUMBER: _ClassVar[int]
    LIMIT_BYTES_FIELD_NUMBER: _ClassVar[int]
    MISSES_FIELD_NUMBER: _ClassVar[int]
    USED_BYTES_FIELD_NUMBER: _ClassVar[int]
    cached_bytes: int
    hits: int
    largest_lease_bytes: int
    limit_bytes: int
    misses: int
    used_bytes: int
    def __init__(self, limit_bytes: _Optional[int] = ..., used_bytes: _Optional[int] = ..., cached_bytes: _Optional[int] = ..., hits: _Optional[int] = ..., misses: _Optional[int] = ..., largest_lease_bytes: _Optional[int] = ...) -> None: ...

class Program(_message.Message):
    __slots__ = ["gradient", "outputs", "steps"]
    GRADIENT_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    gradient: GradientRequest
    outputs: _containers.RepeatedCompositeFieldContainer[ProgramOutput]
    steps: _containers.RepeatedCompositeFieldContainer[Step]
    def __init__(self, steps: _Optional[_Iterable[_Union[Step, _Mapping]]] = ..., outputs: _Optional[_Iterable[_Union[ProgramOutput, _Mapping]]] = ..., gradient: _Optional[_Union[GradientRequest, _Mapping]] = ...) -> None: ...

class ProgramOutput(_message.Message):
    __slots__ = ["name", "value"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: str
    def __init__(self, name: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class SharedView(_message.Message):
    __slots__ = ["offset_bytes", "region", "size_bytes"]
    OFFSET_BYTES_FIELD_NUMBER: _ClassVar[int]
    REGION_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    offset_bytes: int
    region: bytes
    size_bytes: int
    def __init__(self, region: _Optional[bytes] = ..., offset_bytes: _Optional[int] = ..., size_bytes: _Optional[int] = ...) -> None: ...

class Step(_message.Message):
    __slots__ = ["attributes", "inputs", "name", "op"]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OP_FIELD_NUMBER: _ClassVar[int]
    attributes: _containers.RepeatedCompositeFieldContainer[Attribute]
    inputs: _containers.RepeatedCompositeFieldContainer[Tensor]
    name: str
    op: str
    def __init__(self, name: _Optional[str] = ..., op: _Optional[str] = ..., inputs: _Optional[_Iterable[_Union[Tensor, _Mapping]]] = ..., attributes: _Optional[_Iterable[_Union[Attribute, _Mapping]]] = ...) -> None: ...

class Tensor(_message.Message):
    __slots__ = ["buffer", "chunked", "dtype", "name", "raw_index", "scalar", "shape", "shared", "storage_offset", "strides", "value", "values"]
    BUFFER_FIELD_NUMBER: _ClassVar[int]
    CHUNKED_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    RAW_INDEX_FIELD_NUMBER: _ClassVar[int]
    SCALAR_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    SHARED_FIELD_NUMBER: _ClassVar[int]
    STORAGE_OFFSET_FIELD_NUMBER: _ClassVar[int]
    STRIDES_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    buffer: BufferView
    chunked: Chunked
    dtype: DataType
    name: str
    raw_index: int
    scalar: bool
    shape: _containers.RepeatedScalarFieldContainer[int]
    shared: SharedView
    storage_offset: int
    strides: _containers.RepeatedScalarFieldContainer[int]
    value: str
    values: TensorValues
    def __init__(self, name: _Optional[str] = ..., dtype: _Optional[_Union[DataType, str]] = ..., shape: _Optional[_Iterable[int]] = ..., strides: _Optional[_Iterable[int]] = ..., storage_offset: _Optional[int] = ..., scalar: bool = ..., raw_index: _Optional[int] = ..., values: _Optional[_Union[TensorValues, _Mapping]] = ..., buffer: _Optional[_Union[BufferView, _Mapping]] = ..., chunked: _Optional[_Union[Chunked, _Mapping]] = ..., shared: _Optional[_Union[SharedView, _Mapping]] = ..., value: _Optional[str] = ...) -> None: ...

class TensorValues(_message.Message):
    __slots__ = ["bools", "floats", "ints", "uints"]
    BOOLS_FIELD_NUMBER: _ClassVar[int]
    FLOATS_FIELD_NUMBER: _ClassVar[int]
    INTS_FIELD_NUMBER: _ClassVar[int]
    UINTS_FIELD_NUMBER: _ClassVar[int]
    bools: _containers.RepeatedScalarFieldContainer[bool]
    floats: _containers.RepeatedScalarFieldContainer[float]
    ints: _containers.RepeatedScalarFieldContainer[int]
    uints: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, floats: _Optional[_Iterable[float]] = ..., ints: _Optional[_Iterable[int]] = ..., uints: _Optional[_Iterable[int]] = ..., bools: _Optional[_Iterable[bool]] = ...) -> None: ...

class DataType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
