"""What is sent and what is made of the answer, apart from how it travels: opserve.Client and opserve.aio.Client share it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Generic, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, TypeVar, Union

import numpy as np

from ._arrays import Array, Sent, Spec, as_arrays, sent
from ._attributes import attribute_of
from ._dtypes import data_type_of, dtype_named, numpy_dtype
from ._html import table
from . import _repeated
from ._program import Program, op_of
from ._proto import operator_service_pb2 as api
from ._proto import types_pb2 as types
from ._schema import Operator
from ._wire import Buffer, field as wire_field, joined, taken_apart
from .errors import OpserveError, bad_answer, error_of_status

T = TypeVar("T")
SERVICE = "/opserve.v1.OperatorService/"
_CALL, _CALLS = b"\x0a", b"\x0a"  # field 1 of ExecuteRequest and of ExecuteBatchRequest

Op = Union[str, Program]  # an operator's name, or a program in its place
Locate = Callable[[Array], Optional[Dict[str, Any]]]
Described = Union[Sent, Tuple[int, Tuple[int, ...], Dict[str, Any]]]  # the latter is in shared memory


@dataclass
class Request(Generic[T]):
    """A unary call: its method, its message, and what reads the answer."""

    method: str
    message: bytes
    read: Callable[[bytes], T]


@dataclass
class Call:
    """One call of execute_batch(); the arguments of execute()."""

    op: Op
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
            raise KeyError(f"want the name of an output ({', '.join(self._arrays)}), got {name!r}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        return f"Result({self._arrays!r})"

    def _repr_html_(self) -> str:
        rows = ((name, array.dtype, array.shape, np.array2string(array, threshold=8, edgeitems=2, precision=4))
                for name, array in self._arrays.items())
        return table(("output", "dtype", "shape", "values"), rows)


class Plan(NamedTuple):
    """Phase one's answer: what a call needs and gives. Of a program also what its intermediate results would take if each had
    memory of its own, and the program as it runs, with the steps that compute gradients."""

    workspace_bytes: int
    outputs: Dict[str, Spec]
    input_bytes: int
    output_bytes: int
    device: str
    expected_seconds: float
    runs_inline: bool
    intermediate_bytes: int = 0
    program: Optional[Program] = None


def attributes_of(call: Call) -> List[types.Attribute]:
    """One that is None is left out."""
    return [attribute_of(name, value) for name, value in call.attributes.items() if value is not None]


def check_out(out: Any) -> None:
    """That a call's `out` has arrays to write to. TypeError where not."""
    if not isinstance(out, Mapping):
        raise TypeError(f"out: want a mapping of arrays by the names of outputs, got {type(out).__name__}")
    for name, array in out.items():
        if not isinstance(array, np.ndarray):
            raise TypeError(f"out: {name}: want an array of NumPy to write to, got {type(array).__name__}")


def set_op(message: types.Call, op: Union[str, bytes]) -> None:
    """Puts what op_of() gave into a message."""
    if isinstance(op, str):
        message.op = op
    else:
        message.program.ParseFromString(op)


class _Message:
    """A message's tensors: each array becomes an entry of `raw`, or a place in shared memory."""

    def __init__(self, locate: Locate) -> None:
        self._locate = locate
        self.raw: List[Buffer] = []

    def call(self, call: Call, arrays: Mapping[str, Array]) -> bytes:
        """The Call of the message, whose inputs are `arrays`; their bytes become entries of `raw`."""
        first = len(self.raw)
        inputs: List[Tuple[str, Described]] = []
        for name, array in arrays.items():
            try:
                inputs.append((name, self._described(array)))
            except TypeError as error:
                raise TypeError(f"{name}: {error}") from None
        self.raw += [tensor.data for _, tensor in inputs if isinstance(tensor, Sent)]
        return self._written(call, op_of(call.op, (array.dtype for array in arrays.values())), inputs, first)

    def _described(self, array: Array) -> Described:
        shared = self._locate(array) if array.flags.c_contiguous else None
        return sent(array) if shared is None else (data_type_of(array.dtype), array.shape, shared)

    def _written(self, call: Call, op: Union[str, bytes], inputs: Sequence[Tuple[str, Described]], raw_index: int) -> bytes:
        message = types.Call(device=call.device, report_execution=call.report)
        set_op(message, op)
        for name, tensor in inputs:
            if isinstance(tensor, Sent):
                message.inputs.add(name=name, dtype=tensor.data_type, shape=tensor.shape, strides=tensor.strides, raw_index=raw_index)
                raw_index += 1
            else:
                message.inputs.add(name=name, dtype=tensor[0], shape=tensor[1], shared=tensor[2])
        message.attributes.extend(attributes_of(call))
        for name, array in call.out.items():
            output = message.outputs.add(name=name, dtype=data_type_of(array.dtype), shape=array.shape, scalar=not array.shape)
            shared = self._locate(array) if array.flags.c_contiguous else None
            if shared:
                output.shared.CopyFrom(types.SharedView(**shared))
        written: bytes = message.SerializeToString()
        return written


def execute(call: Call, locate: Locate) -> Request[Result]:
    inputs = call.inputs
    key = _key(call, inputs)
    if key is None:
        inputs = as_arrays(inputs)
        key = _key(call, inputs)
    form = _repeated.find(key)
    if form is not None and not _has_shared(inputs, locate):
        return Request("Execute", form.message(inputs), _reader(call, form))
    message = _Message(locate)
    arrays = as_arrays(inputs) if inputs is call.inputs else inputs
    header = wire_field(_CALL, message.call(call, arrays))
    if key is not None and 0 < len(message.raw) == len(arrays):
        form = _repeated.keep(key, _repeated.Form(inputs, header, message.raw))
    return Request("Execute", joined(header, message.raw), _reader(call, form))


def _key(call: Call, inputs: Mapping[str, Any]) -> Optional[_repeated.Key]:
    return None if call.out else _repeated.key_of(call.op, (call.device, call.report), inputs, call.attributes)


def _has_shared(inputs: Mapping[str, Any], locate: Locate) -> bool:
    for value in inputs.values():
        if type(value) is np.ndarray and locate(value) is not None:
            return True
    return False


def _reader(call: Call, form: Optional[_repeated.Form]) -> Callable[[bytes], Result]:
    def read(answer: bytes) -> Result:
        arrays = None if form is None else form.arrays(answer)
        if arrays is not None:
            return Result(arrays)
        parts = taken_apart(answer)
        response = _parsed(api.ExecuteResponse, parts.header)
        result = result_of(response, parts.raw, call.out)
        if form is not None and not call.report and [tensor.raw_index for tensor in response.outputs] == list(range(len(parts.raw))):
            form.learn(answer, parts.header, parts.raw, result)
        return result

    return read


def execute_batch(calls: Sequence[Call], locate: Locate) -> Request[List[Union[Result, OpserveError]]]:
    message, header = _Message(locate), list[Buffer]()
    for call in calls:
        check_out(call.out)
        header += wire_field(_CALLS, message.call(call, as_arrays(call.inputs)))

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
    request.call.device = call.device
    described = {**specs, **{name: Spec(array.shape, array.dtype) for name, array in arrays.items()}}
    set_op(request.call, op_of(call.op, (dtype_named(spec.dtype) for spec in described.values())))
    for name, spec in described.items():
        request.call.inputs.add(name=name, dtype=data_type_of(spec.dtype), shape=spec.shape)
    request.call.attributes.extend(attributes_of(call))
    for name, dtype in call.out.items():
        request.call.outputs.add(name=name, dtype=data_type_of(dtype))
    return Request("GetWorkspaceSize", request.SerializeToString(), _read_plan)


def _read_plan(answer: bytes) -> Plan:
    response = _parsed(api.GetWorkspaceSizeResponse, answer)
    outputs = {output.name: Spec(tuple(output.shape), _dtype_of(output)) for output in response.outputs}
    return Plan(response.workspace_bytes, outputs, response.input_bytes, response.output_bytes, response.device,
                response.cost.expected_ns * 1e-9, response.cost.runs_inline, response.program.intermediate_bytes,
                Program.of_call(response.program.call) if response.HasField("program") else None)


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
    data: Buffer = b""
    if tensor.HasField("raw_index"):
        if tensor.raw_index >= len(raw):
            raise bad_answer(f"output {tensor.name} has no bytes")
        data = raw[tensor.raw_index]
    if (shape and min(shape) < 0) or math.prod(shape) * dtype.itemsize != len(data):
        raise bad_answer(f"output {tensor.name} of shape {shape} has {len(data)} bytes")
    return np.frombuffer(data, dtype).reshape(shape) if len(data) else np.empty(shape, dtype)


def result_of(response: Any, raw: Sequence[memoryview], out: Mapping[str, Any]) -> Result:
    """The outputs of an ExecuteResponse, of a BatchResult or of ExecuteOutputs."""
    arrays: Dict[str, Array] = {}
    for tensor in response.outputs:
        name = tensor.name
        asked = out.get(name)
        if tensor.HasField("shared"):
            if asked is None:
                raise bad_answer(f"output {name} is in shared memory")
            arrays[name] = asked
            continue
        arrays[name] = array_of(tensor, raw)
        if asked is not None:
            if asked.shape != arrays[name].shape:
                raise bad_answer(f"output {name} has shape {arrays[name].shape}, want {asked.shape}")
            np.copyto(asked, arrays[name])
            arrays[name] = asked
    return Result(arrays, response.execution if response.HasField("execution") else None)
