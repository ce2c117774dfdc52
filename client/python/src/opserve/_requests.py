"""What is sent and what is made of the answer, apart from how it travels: opserve.Client and opserve.aio.Client share it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Generic, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, TypeVar, Union

import numpy as np

from ._arrays import Array, Sent, Spec, as_array, as_arrays, sent
from ._attributes import attribute_of
from ._dtypes import data_type_of, numpy_dtype
from ._proto import operator_service_pb2 as api
from ._proto import types_pb2 as types
from ._schema import Operator
from ._wire import Buffer, field as wire_field, joined, taken_apart
from .errors import OpserveError, bad_answer, error_of_status

T = TypeVar("T")
SERVICE = "/opserve.v1.OperatorService/"
_CALL, _CALLS = b"\x0a", b"\x0a"  # field 1 of ExecuteRequest and of ExecuteBatchRequest

Locate = Callable[[Array], Optional[Dict[str, Any]]]


@dataclass
class Request(Generic[T]):
    """A unary call: its method, its message, and what reads the answer."""

    method: str
    message: bytes
    read: Callable[[bytes], T]


@dataclass
class Call:
    """One call of execute_batch(); the arguments of execute()."""

    op: str
    inputs: Mapping[str, Any]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    out: Mapping[str, Any] = field(default_factory=dict)
    device: str = ""
    report: bool = False


class Result(Mapping[str, Array]):
    """An operator's outputs by name.

    They look into the answer's bytes: read-only, and not always aligned; `.copy()` one to write to it. An output that was masked
    out has shape (0,). `execution` says which device ran the call and how long that took, where the call asked (report=True).
    """

    def __init__(self, arrays: Dict[str, Array], execution: Optional[types.Execution] = None) -> None:
        self._arrays = arrays
        self.execution = execution

    def __getitem__(self, name: str) -> Array:
        try:
            return self._arrays[name]
        except KeyError:
            raise KeyError(f"want one of the outputs {', '.join(self._arrays)}, got {name!r}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        return f"Result({self._arrays!r})"


class Plan(NamedTuple):
    """Phase one's answer: what a call needs and gives."""

    workspace_bytes: int
    outputs: Dict[str, Spec]
    input_bytes: int
    output_bytes: int
    device: str
    expected_seconds: float
    runs_inline: bool


def attributes_of(call: Call) -> List[types.Attribute]:
    """One that is None is left out."""
    return [attribute_of(name, value) for name, value in call.attributes.items() if value is not None]


class _Message:
    """A message's tensors: each array becomes an entry of `raw`, or a place in shared memory."""

    def __init__(self, locate: Locate) -> None:
        self._locate = locate
        self.raw: List[Buffer] = []

    def call(self, call: Call) -> types.Call:
        message = types.Call(op=call.op, device=call.device, report_execution=call.report)
        for name, array in as_arrays(call.inputs).items():
            self._add(message, name, array)
        message.attributes.extend(attributes_of(call))
        for name, array in call.out.items():
            output = message.outputs.add(name=name, dtype=data_type_of(array.dtype), shape=array.shape, scalar=not array.shape)
            shared = self._locate(array) if array.flags.c_contiguous else None
            if shared:
                output.shared.CopyFrom(types.SharedView(**shared))
        return message

    def _add(self, message: types.Call, name: str, array: Array) -> None:
        shared = self._locate(array) if array.flags.c_contiguous else None
        if shared:
            message.inputs.add(name=name, dtype=data_type_of(array.dtype), shape=array.shape, shared=shared)
            return
        try:
            tensor: Sent = sent(array)
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from None
        message.inputs.add(name=name, dtype=tensor.data_type, shape=tensor.shape, strides=tensor.strides,
                           raw_index=len(self.raw))
        self.raw.append(tensor.data)


def execute(call: Call, locate: Locate) -> Request[Result]:
    message = _Message(locate)
    header = wire_field(_CALL, message.call(call).SerializeToString())

    def read(answer: bytes) -> Result:
        parts = taken_apart(answer)
        response = _parsed(api.ExecuteResponse, parts.header)
        return result_of(response, parts.raw, call.out)

    return Request("Execute", joined(header, message.raw), read)


def execute_batch(calls: Sequence[Call], locate: Locate) -> Request[List[Union[Result, OpserveError]]]:
    message, header = _Message(locate), list[Buffer]()
    for call in calls:
        header += wire_field(_CALLS, message.call(call).SerializeToString())

    def read(answer: bytes) -> List[Union[Result, OpserveError]]:
        parts = taken_apart(answer)
        results = _parsed(api.ExecuteBatchResponse, parts.header).results
        if len(results) != len(calls):
            raise bad_answer(f"{len(results)} results of {len(calls)} calls")
        return [error_of_status(result.error) if result.HasField("error") else result_of(result, parts.raw, call.out)
                for call, result in zip(calls, results)]

    return Request("ExecuteBatch", joined(header, message.raw), read)


def plan(call: Call) -> Request[Plan]:
    """Phase one. `out` has dtypes that outputs are to have."""
    specs = {name: value for name, value in call.inputs.items() if isinstance(value, Spec)}
    arrays = as_arrays({name: value for name, value in call.inputs.items() if name not in specs})
    request = api.GetWorkspaceSizeRequest()
    request.call.op, request.call.device = call.op, call.device
    for name, spec in {**specs, **{name: Spec(array.shape, array.dtype) for name, array in arrays.items()}}.items():
        request.call.inputs.add(name=name, dtype=data_type_of(spec.dtype), shape=spec.shape)
    request.call.attributes.extend(attributes_of(call))
    for name, dtype in call.out.items():
        request.call.outputs.add(name=name, dtype=data_type_of(dtype))
    return Request("GetWorkspaceSize", request.SerializeToString(), _read_plan)


def _read_plan(answer: bytes) -> Plan:
    response = _parsed(api.GetWorkspaceSizeResponse, answer)
    outputs = {output.name: Spec(tuple(output.shape), _dtype_of(output)) for output in response.outputs}
    return Plan(response.workspace_bytes, outputs, response.input_bytes, response.output_bytes, response.device,
                response.cost.expected_ns * 1e-9, response.cost.runs_inline)


def list_operators(names: Sequence[str] = ()) -> Request[List[Operator]]:
    return Request("ListOperators", api.ListOperatorsRequest(names=names).SerializeToString(),
                   lambda answer: [Operator.of(schema) for schema in _parsed(api.ListOperatorsResponse, answer).operators])


def list_devices() -> Request[List[api.Device]]:
    return Request("ListDevices", b"", lambda answer: list(_parsed(api.ListDevicesResponse, answer).devices))


def get_statistics() -> Request[Any]:
    from ._proto import statistics_pb2
    return Request("GetStatistics", b"", lambda answer: _parsed(statistics_pb2.GetStatisticsResponse, answer))


def get_server_info() -> Request[api.GetServerInfoResponse]:
    return Request("GetServerInfo", b"", lambda answer: _parsed(api.GetServerInfoResponse, answer))


def _parsed(kind: Callable[..., T], data: bytes) -> T:
    try:
        return kind.FromString(data)  # type: ignore[attr-defined,no-any-return]
    except Exception as error:  # protobuf's implementations raise different classes
        raise bad_answer(f"it is no {kind.__name__}: {error}") from None


def _dtype_of(tensor: types.Tensor) -> "np.dtype[Any]":
    try:
        return numpy_dtype(tensor.dtype)
    except KeyError:
        raise bad_answer(f"output {tensor.name} has the dtype {tensor.dtype}") from None


def array_of(tensor: types.Tensor, raw: Sequence[memoryview]) -> Array:
    """An output that looks into the message's bytes."""
    dtype, shape = _dtype_of(tensor), tuple(tensor.shape)
    if tensor.HasField("raw_index"):
        if tensor.raw_index >= len(raw):
            raise bad_answer(f"output {tensor.name} has no bytes")
        data: Buffer = raw[tensor.raw_index]
    else:
        data = b""
    if min(shape, default=0) < 0 or _size(shape) * dtype.itemsize != len(data):
        raise bad_answer(f"output {tensor.name} of shape {shape} has {len(data)} bytes")
    return np.frombuffer(data, dtype).reshape(shape) if len(data) else np.empty(shape, dtype)


def _size(shape: Tuple[int, ...]) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size


def result_of(response: Any, raw: Sequence[memoryview], out: Mapping[str, Any]) -> Result:
    """The outputs of an ExecuteResponse, of a BatchResult or of ExecuteOutputs."""
    arrays: Dict[str, Array] = {}
    for tensor in response.outputs:
        if tensor.WhichOneof("data") == "shared":
            if tensor.name not in out:
                raise bad_answer(f"output {tensor.name} is in shared memory")
            arrays[tensor.name] = out[tensor.name]
            continue
        array = array_of(tensor, raw)
        if tensor.name in out:
            if out[tensor.name].shape != array.shape:
                raise bad_answer(f"output {tensor.name} has shape {array.shape}, want {out[tensor.name].shape}")
            np.copyto(out[tensor.name], array)
            array = out[tensor.name]
        arrays[tensor.name] = array
    return Result(arrays, response.execution if response.HasField("execution") else None)
