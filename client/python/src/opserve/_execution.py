"""How a call of Client.execute() goes: by shared memory if that is faster, by bytes otherwise, or in pieces if it is too large for a message."""

from __future__ import annotations

import time
from typing import Any, Optional, Protocol

import numpy as np

from . import _requests
from ._arrays import as_arrays
from ._channel import left, waits
from ._local_memory import LocalMemory, Placed, is_too_long, may_be_refusal
from ._progress import Progress
from ._requests import Call, Result
from ._shared_memory import Regions
from ._steps import Steps
from .errors import OpserveError, ResourceError


class Way(Protocol):
    """The client's steps, as _steps.py says."""

    def place(self, memory: LocalMemory, call: Call) -> Any: ...

    def call(self, request: _requests.Request[Result], deadline: Optional[float]) -> Any: ...

    def call_once(self, request: _requests.Request[Result], deadline: Optional[float]) -> Any: ...

    def sleep(self, seconds: float) -> Any: ...

    def open_session(self, device: str, timeout: Optional[float]) -> Any: ...

    def end_session(self, session: Any, failed: bool) -> Any: ...


class Execution:
    """What the calls of a client have in common."""

    def __init__(self, way: Way, regions: Regions, memory: Optional[LocalMemory], timeout: Optional[float]) -> None:
        self.max_message_bytes = 0  # 0 = not known
        self._way = way
        self._regions = regions
        self._memory = memory
        self._timeout = timeout

    def steps(self, call: Call, timeout: Optional[float], progress: Optional[Progress]) -> Steps[Result]:
        _requests.check_out(call.out)
        if timeout is None:
            timeout = self._timeout
        deadline = None if timeout is None else time.monotonic() + timeout
        if self._memory is not None and self._memory.is_for(call):
            placed = yield self._way.place(self._memory, call)
            if placed is not None:
                return (yield from self._in_memory(self._memory, placed, call, deadline, progress))
        return (yield from self._by_bytes(call, deadline, progress))

    def _in_memory(self, memory: LocalMemory, placed: Placed, call: Call, deadline: Optional[float],
                   progress: Optional[Progress]) -> Steps[Result]:
        result: Result
        try:
            # Another try could meet the first one in the same memory.
            result = yield self._way.call_once(_requests.execute(placed.call, memory.locate), deadline)
        except BaseException as failure:
            memory.note_failure(placed)
            if not isinstance(failure, OpserveError):
                raise
            error = failure
        else:
            memory.note_success(placed, result)
            return result
        if not may_be_refusal(error) and not is_too_long(error):
            pause = next(waits(lambda: error, deadline, time.monotonic), None)
            if pause is None:
                raise error
            yield self._way.sleep(pause)
        result = yield from self._by_bytes(call, deadline, progress)
        if may_be_refusal(error):
            memory.note_refusal()
        else:
            memory.learn(placed, result)
        return result

    def _by_bytes(self, call: Call, deadline: Optional[float], progress: Optional[Progress]) -> Steps[Result]:
        request = _requests.execute(call, self._regions.locate)
        if not self.max_message_bytes or len(request.message) <= self.max_message_bytes:
            try:
                result: Result = yield self._way.call(request, deadline)
                return result
            except ResourceError as error:
                if error.parameter != "max_message_bytes":  # of the answer
                    raise
        return (yield from self._in_pieces(call, deadline, progress))

    def _in_pieces(self, call: Call, deadline: Optional[float], progress: Optional[Progress]) -> Steps[Result]:
        session = yield self._way.open_session(call.device, left(deadline))
        try:
            result = yield from _whole_call(session, call, progress)
            yield self._way.end_session(session, False)
        except BaseException:
            yield self._way.end_session(session, True)
            raise
        return result


def _whole_call(session: Any, call: Call, progress: Optional[Progress]) -> Steps[Result]:
    """Uploads a call's arrays to a session, which may be one of opserve.aio, runs it and downloads what it gives; tells `progress` of both."""
    inputs = as_arrays(call.inputs)
    dtypes = {name: array.dtype for name, array in call.out.items()}
    plan = yield session._planned(call.op, inputs, call.attributes, dtypes)
    total, before = plan.input_bytes + plan.output_bytes, 0

    def advance(done: int, _: int) -> None:
        if progress is not None:
            progress(before + done, total)

    tensors = {}
    for name, array in inputs.items():
        tensors[name] = yield session.empty(array.shape, array.dtype)
        yield tensors[name].upload(array, progress=advance)
        before += array.nbytes
    outputs = {}
    for name, spec in plan.outputs.items():
        outputs[name] = yield session.empty(spec.shape, dtypes.get(name, spec.dtype))
    executor = yield session._executor(call.op, tensors, call.attributes, outputs)
    yield executor.run()
    arrays = {}
    for name, tensor in outputs.items():
        arrays[name] = yield tensor.numpy(progress=advance)
        before += tensor.nbytes
        if name in call.out:
            np.copyto(call.out[name], arrays[name])
            arrays[name] = call.out[name]
    return Result(arrays)
