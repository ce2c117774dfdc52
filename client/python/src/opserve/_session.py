"""Sessions: tensors that stay on the server, and work on them that nothing waits for. docs/session.md has the model."""

from __future__ import annotations

import copy
import itertools
import math
import weakref
from types import TracebackType
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Type, Union

import numpy as np

from . import _requests
from ._arrays import Array, Spec, array_for_tensor, arrays_beside, as_array, bytes_of, converted
from ._attributes import attribute_of
from ._conversation import Conversation
from ._dtypes import data_type_of, numpy_dtype
from ._exchange import Pending
from ._program import op_of
from ._progress import Asked, Progress, progress_of
from ._proto import session_pb2 as api
from ._proto import types_pb2 as types
from ._requests import Call, Op, Plan, Request
from .errors import OpserveError, bad_answer

MAX_PLANS = 512
Shape = Union[int, Tuple[int, ...], List[int]]


class Session:
    """Resident state on a device of a server, in one RPC. Leaving its `with` block finishes what was sent and frees everything.

    Nothing waits but what gives numbers: Tensor.numpy(), synchronize(), queries. A command that failed raises there, with the place
    in the program that gave it. Any thread may use a session.
    """

    def __init__(self, channel: Any, device: str, talk: Any) -> None:
        self._channel = channel
        self._device = device
        self._ids = itertools.count(1)
        self._talk: Conversation = talk
        self._context = next(self._ids)
        self._plans: Dict[bytes, Plan] = {}
        self._talk.send(create_context={"context": self._context, "device": device})
        self.default_stream = Stream(self)

    # ---- tensors

    def tensor(self, value: Any, dtype: Any = None, *, stream: Optional["Stream"] = None) -> "Tensor":
        """A copy of an array on the device. The array may change when this returns."""
        array = array_for_tensor(value, dtype)
        tensor = self.empty(array.shape, array.dtype)
        tensor.upload(array, stream=stream)
        return tensor

    def empty(self, shape: Shape, dtype: Any = np.float32) -> "Tensor":
        """A tensor on the device; zeros, as all new memory of a session."""
        return Tensor(self, shape, dtype)

    def full(self, shape: Shape, value: Any, dtype: Any = np.float32, *, stream: Optional["Stream"] = None) -> "Tensor":
        """A tensor on the device, filled there."""
        tensor = self.empty(shape, dtype)
        tensor.fill(value, stream=stream)
        return tensor

    # ---- calls

    def plan(self, op: Op, inputs: Mapping[str, Any], attributes: Optional[Mapping[str, Any]] = None, /, *,
             out: Optional[Mapping[str, "Tensor"]] = None, **more: Any) -> "Executor":
        """Phase one: an executor, which run() runs as often as is wanted on the same tensors.

        Inputs are tensors of this session; arrays and numbers become such. Outputs that `out` does not name are made here, for which
        the server is asked once for each shape.
        """
        given = self._tensors(inputs)
        values = {**(attributes or {}), **more}
        outputs = dict(out or {})
        for name, spec in self._planned(op, given, values, {}).outputs.items():
            if name not in outputs:
                outputs[name] = self.empty(*spec)
        return Executor(self, op, given, values, outputs)

    def execute(self, op: Op, inputs: Mapping[str, Any], attributes: Optional[Mapping[str, Any]] = None, /, *,
                out: Optional[Mapping[str, "Tensor"]] = None, stream: Optional["Stream"] = None, **more: Any) -> Dict[str, "Tensor"]:
        """Both phases; the outputs by name, on the device."""
        executor = self.plan(op, inputs, attributes, out=out, **more)
        executor.run(stream=stream)
        return executor.outputs

    def _fetched(self, tensors: Mapping[str, "Tensor"]) -> Dict[str, Array]:
        """The elements of several tensors, all asked for before the first is waited for. Raises as Tensor.numpy()."""
        downloads = {name: Download(tensor, None, None) for name, tensor in tensors.items()}
        for download in downloads.values():
            self._wait(download.command)
        return {name: download.array() for name, download in downloads.items()}

    def _executor(self, op: Op, inputs: Mapping[str, "Tensor"], attributes: Mapping[str, Any], outputs: Mapping[str, "Tensor"]) -> "Executor":
        return Executor(self, op, inputs, attributes, outputs)

    def _tensors(self, inputs: Mapping[str, Any]) -> Dict[str, "Tensor"]:
        here = {name: value for name, value in inputs.items() if isinstance(value, Tensor)}
        return {**here, **{name: self.tensor(array) for name, array in arrays_beside(here, inputs).items()}}

    def _plan_request(self, op: Op, inputs: Mapping[str, Any], attributes: Mapping[str, Any], dtypes: Mapping[str, Any]) -> Request[Plan]:
        specs = {name: Spec(value.shape, value.dtype) for name, value in inputs.items()}
        return _requests.plan(Call(op, specs, attributes, dtypes, self._device))

    def _planned(self, op: Op, inputs: Mapping[str, Any], attributes: Mapping[str, Any], dtypes: Mapping[str, Any]) -> Plan:
        request = self._plan_request(op, inputs, attributes, dtypes)
        return self._plans.get(request.message) or self._keep(request, self._channel.call(request))

    def _keep(self, request: Request[Plan], plan: Plan) -> Plan:
        if len(self._plans) >= MAX_PLANS:
            self._plans.clear()
        self._plans[request.message] = plan
        return plan

    # ---- order

    def stream(self) -> "Stream":
        """Another stream: its work runs beside that of the others."""
        return Stream(self)

    def event(self) -> "Event":
        """A mark that streams record and wait for."""
        return Event(self)

    def synchronize(self) -> None:
        """Waits until all that was given is done. Raises the first failure."""
        self._wait(self._begin_synchronize())

    def _begin_synchronize(self) -> Pending:
        return self._talk.send(synchronize={"context": self._context})

    def memory(self) -> api.MemoryState:
        """What the session holds on the device, and what it may."""
        return self._talk.ask(self._begin_memory()).memory

    def _begin_memory(self) -> Pending:
        return self._talk.send(query_memory={"context": self._context})

    @property
    def info(self) -> api.SessionInfo:
        """The session's limits."""
        return self._talk.info

    @property
    def draining(self) -> bool:
        """Whether the server said that it is stopping: it ends the session once nothing is under way."""
        return self._talk.draining

    def _wait(self, command: Pending) -> api.Answer:
        try:
            return self._talk.wait(command)
        except OpserveError:
            # The failure is told: streams that it stopped go on with what comes next.
            if self._talk.is_open:
                self._talk.forgive(self._begin_synchronize())
            raise

    # ---- the end

    def close(self) -> None:
        """Finishes what was sent and frees everything. Raises the first failure that was not told."""
        self._talk.finish()

    def cancel(self) -> None:
        """Drops waiting commands and frees everything."""
        self._talk.cancel()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if kind is None:
            self.close()
        else:
            self.cancel()


class _Handle:
    """An object of a session with an id; gone from the server when Python drops it, or with free()."""

    def __init__(self, session: Session, kind: str, **more: Any) -> None:
        self.session = session
        self._talk = session._talk
        self.id = next(session._ids)
        self._dropped = weakref.finalize(self, self._talk.discard, **{_ENDS[kind]: {kind: self.id}})
        self._dropped.atexit = False
        command: Dict[str, Any] = {_BEGINS[kind]: {kind: self.id, "context": session._context, **more}}
        self._talk.send(**command)

    def free(self) -> None:
        """Frees it now; work that uses it ends first."""
        self._dropped()


_BEGINS = {"buffer": "allocate", "stream": "create_stream", "event": "create_event", "executor": "create_executor"}
_ENDS = {"buffer": "free", "stream": "destroy_stream", "event": "destroy_event", "executor": "destroy_executor"}


class Stream(_Handle):
    """Work in order. What a command of it fails with stops those behind it until that is told."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "stream")

    def synchronize(self) -> None:
        """Waits until all that is on it is done. Raises the first failure."""
        self.session._wait(self._begin_synchronize())

    def _begin_synchronize(self) -> Pending:
        return self._talk.send(stream=self.id, synchronize={"stream": self.id})

    def idle(self) -> bool:
        """Whether nothing runs and nothing waits."""
        return self._talk.ask(self._begin_query()).stream.idle

    def _begin_query(self) -> Pending:
        return self._talk.send(query_stream={"stream": self.id})

    def wait(self, event: "Event") -> None:
        """What comes later on this stream runs once the event was reached."""
        self._talk.send(stream=self.id, wait_event={"event": event.id, "stream": self.id})


class Event(_Handle):
    """Reached when all that was on the stream, as it was recorded there, has ended."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "event")

    def record(self, stream: Optional[Stream] = None) -> "Event":
        stream = stream or self.session.default_stream
        self._talk.send(stream=stream.id, record_event={"event": self.id, "stream": stream.id})
        return self

    def reached(self) -> bool:
        return self._talk.ask(self._begin_query()).event.reached

    def _begin_query(self) -> Pending:
        return self._talk.send(query_event={"event": self.id})

    def synchronize(self) -> None:
        """Waits until it was reached."""
        self.session._wait(self._begin_synchronize())

    def _begin_synchronize(self) -> Pending:
        return self._talk.send(synchronize={"event": self.id})

    def seconds_since(self, start: "Event") -> float:
        """The time from when `start` was reached; both must have been."""
        return self.session._wait(self._begin_elapsed_time(start)).elapsed_time.elapsed_ns * 1e-9

    def _begin_elapsed_time(self, start: "Event") -> Pending:
        return self._talk.send(query_elapsed_time={"start": start.id, "end": self.id})


class Tensor(_Handle):
    """A dense tensor on the device."""

    def __init__(self, session: Session, shape: Shape, dtype: Any) -> None:
        self.shape: Tuple[int, ...] = (shape,) if isinstance(shape, int) else tuple(shape)
        self.dtype = numpy_dtype(data_type_of(dtype))
        self.nbytes = math.prod(self.shape) * self.dtype.itemsize
        self._written: Optional[Pending] = None  # the command that wrote it last
        super().__init__(session, "buffer", size_bytes=self.nbytes)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def upload(self, value: Any, *, stream: Optional[Stream] = None, progress: Asked = None) -> None:
        """Writes an array of this shape; another dtype is converted to the tensor's. The array may change when this returns. `progress` is that of Client.execute(), for this array."""
        with progress_of(progress) as told:
            for done in self._upload_pieces(value, stream):
                if told is not None:
                    told(done, self.nbytes)

    def _upload_pieces(self, value: Any, stream: Optional[Stream]) -> Iterator[int]:
        """Sends a piece for each step; gives the bytes sent so far."""
        array = np.ascontiguousarray(converted(as_array(value), self.dtype)).reshape(np.shape(value))
        if array.shape != self.shape:
            raise ValueError(f"want an array of shape {self.shape}, got {array.shape}")
        data = bytes_of(array.reshape(-1))
        line, chunk = self._line(stream), self._chunk_bytes()
        for start in range(0, len(data), chunk):
            part = bytes(data[start:start + chunk])
            destination = {"buffer": self.id, "offset_bytes": start, "row_bytes": len(part)}
            self._written = self._talk.send(part, stream=line, upload={"destination": destination, "stream": line, "raw_index": 0})
            yield start + len(part)

    def fill(self, value: Any, *, stream: Optional[Stream] = None) -> None:
        """Sets every element."""
        if not self.nbytes:
            return
        line = self._line(stream)
        destination = {"buffer": self.id, "row_bytes": self.nbytes}
        self._written = self._talk.send(stream=line, fill={"destination": destination, "stream": line,
                                                           "pattern": converted(np.asarray(value), self.dtype).tobytes()})

    def copy_from(self, other: "Tensor", *, stream: Optional[Stream] = None) -> None:
        """Copies a tensor of as many bytes, on the device."""
        line = self._line(stream)
        self._written = self._talk.send(stream=line, copy={
            "source": {"buffer": other.id, "row_bytes": other.nbytes}, "stream": line,
            "destination": {"buffer": self.id, "row_bytes": self.nbytes}})

    def numpy(self, *, stream: Optional[Stream] = None, progress: Asked = None) -> Array:
        """The elements, as a new array. Waits. Raises the first failure on the stream, and that of the command that was to write the tensor
        last, also where it was told before. `progress` is that of Client.execute(), for this array; a function is called on a thread of the session's."""
        with progress_of(progress) as told:
            download = Download(self, stream, told)
            self.session._wait(download.command)
        return download.array()

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Array:
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)

    def _line(self, stream: Optional[Stream]) -> int:
        return (stream or self.session.default_stream).id

    def _chunk_bytes(self) -> int:
        info = self._talk.info
        return max(1 << 12, min(info.recommended_chunk_bytes, info.max_message_bytes // 2))

    def __repr__(self) -> str:
        return f"<opserve tensor {self.dtype}{list(self.shape)}>"


class Download:
    """A tensor's elements on their way here."""

    def __init__(self, tensor: Tensor, stream: Optional[Stream], progress: Optional[Progress]) -> None:
        self._array = np.empty(tensor.shape, tensor.dtype)
        self._data = bytes_of(self._array.reshape(-1))
        self._received = 0
        self._progress = progress
        self._failure: Optional[BaseException] = None  # of progress, which is called while answers are read
        self._written = tensor._written
        line = tensor._line(stream)
        source = {"buffer": tensor.id, "row_bytes": tensor.nbytes}
        self.command: Pending = tensor._talk.send(stream=line, on_chunk=self._take, download={"source": source, "stream": line})

    def _take(self, chunk: api.OutputChunk, part: memoryview) -> None:
        start = self._received
        if chunk.offset_bytes != start or len(part) > len(self._data) - start:
            raise bad_answer("a chunk is out of place")
        self._data[start:start + len(part)] = part
        self._received += len(part)
        if self._progress is not None and self._failure is None:
            try:
                self._progress(self._received, len(self._data))
            except BaseException as failure:
                self._failure = failure

    def array(self) -> Array:
        """What came, once the command is over. Raises what progress raised, or why the tensor was not written."""
        if self._failure is not None:
            raise self._failure
        if self._written is not None and self._written.error is not None:
            raise copy.copy(self._written.error)
        if self._received != len(self._data):
            raise bad_answer(f"{self._received} of {len(self._data)} bytes came")
        return self._array


class Executor(_Handle):
    """A planned call. `outputs` has the tensors that run() writes, by name."""

    def __init__(self, session: Session, op: Op, inputs: Mapping[str, Tensor], attributes: Mapping[str, Any],
                 outputs: Mapping[str, Tensor]) -> None:
        self.op = op
        self.inputs = dict(inputs)
        self.outputs = dict(outputs)
        call = {**_op_of(op, inputs), "inputs": [_described(*item) for item in inputs.items()],
                "attributes": [attribute_of(*item) for item in attributes.items() if item[1] is not None],
                "outputs": [_described(*item) for item in outputs.items()]}
        super().__init__(session, "executor", call=call, repeatable=True)

    def run(self, *, stream: Optional[Stream] = None) -> Dict[str, Tensor]:
        """Phase two, in the stream's turn. Gives the outputs, without waiting."""
        line = (stream or self.session.default_stream).id
        written = self._talk.send(stream=line, run_executor={"executor": self.id, "stream": line})
        for tensor in self.outputs.values():
            tensor._written = written
        return self.outputs


def _op_of(op: Op, inputs: Mapping[str, Tensor]) -> Dict[str, Any]:
    call = types.Call()
    _requests.set_op(call, op_of(op, (tensor.dtype for tensor in inputs.values())))
    return {"op": op} if isinstance(op, str) else {"program": call.program}


def _described(name: str, tensor: Tensor) -> Dict[str, Any]:
    return {"name": name, "dtype": data_type_of(tensor.dtype), "shape": tensor.shape, "buffer": {"buffer": tensor.id}}
