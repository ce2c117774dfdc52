"""Sessions of opserve.aio: those of opserve, whose commands are awaited. docs/session.md has the model.

Each object holds the synchronous session's object of its kind, which knows its commands. What waits for the server waits here.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Callable, Dict, Generator, Mapping, Optional, Tuple, Type

import numpy as np

from . import _session
from ._aio_conversation import AioConversation
from ._arrays import Array, array_for_tensor, arrays_beside
from ._exchange import Pending
from ._progress import Asked, progress_of
from ._proto import session_pb2 as api
from ._requests import Op, Plan
from ._session import Download, Shape
from .errors import OpserveError


class Session:
    """Resident state on a device of a server, in one RPC: `async with client.session() as s`, or `s = await client.session()`.

    It is opserve.Session, awaited. Awaiting a command sends it, and waits only while too much is under way; numpy(), synchronize() and
    queries wait for the server. A command that failed raises there, with the place in the program that gave it. A session belongs to the
    event loop that opened it.
    """

    def __init__(self, channel: Any, device: str, timeout: Optional[float]) -> None:
        self._channel = channel
        self._device = device
        self._timeout = timeout

    def __await__(self) -> Generator[Any, None, "Session"]:
        return self._opened().__await__()

    async def _opened(self) -> "Session":
        self._talk: AioConversation = self._channel.conversation(self._timeout)
        try:
            await self._talk.opened()
        except BaseException:
            await self._talk.cancel()
            raise
        self._session = _session.Session(None, self._device, self._talk)
        self.default_stream = Stream(self, self._session.default_stream)
        return self

    # ---- tensors

    async def tensor(self, value: Any, dtype: Any = None, *, stream: Optional["Stream"] = None) -> "Tensor":
        """A copy of an array on the device. The array may change when this returns."""
        array = array_for_tensor(value, dtype)
        tensor = await self.empty(array.shape, array.dtype)
        await tensor.upload(array, stream=stream)
        return tensor

    async def empty(self, shape: Shape, dtype: Any = np.float32) -> "Tensor":
        """A tensor on the device; zeros, as all new memory of a session."""
        await self._talk.room()
        return Tensor(self, self._session.empty(shape, dtype))

    async def full(self, shape: Shape, value: Any, dtype: Any = np.float32, *, stream: Optional["Stream"] = None) -> "Tensor":
        """A tensor on the device, filled there."""
        tensor = await self.empty(shape, dtype)
        await tensor.fill(value, stream=stream)
        return tensor

    # ---- calls

    async def plan(self, op: Op, inputs: Mapping[str, Any], attributes: Optional[Mapping[str, Any]] = None, /, *,
                   out: Optional[Mapping[str, "Tensor"]] = None, **more: Any) -> "Executor":
        """Phase one: an executor, as of opserve.Session.plan()."""
        values = {**(attributes or {}), **more}
        given = {name: value for name, value in inputs.items() if isinstance(value, Tensor)}
        for name, array in arrays_beside(given, inputs).items():
            given[name] = await self.tensor(array)
        outputs = dict(out or {})
        for name, spec in (await self._planned(op, given, values, {})).outputs.items():
            if name not in outputs:
                outputs[name] = await self.empty(*spec)
        return await self._executor(op, given, values, outputs)

    async def _executor(self, op: Op, inputs: Mapping[str, "Tensor"], attributes: Mapping[str, Any],
                        outputs: Mapping[str, "Tensor"]) -> "Executor":
        await self._talk.room()
        return Executor(self, self._session._executor(op, _inner(inputs), attributes, _inner(outputs)), inputs, outputs)

    async def _planned(self, op: Op, inputs: Mapping[str, Any], attributes: Mapping[str, Any], dtypes: Mapping[str, Any]) -> Plan:
        request = self._session._plan_request(op, inputs, attributes, dtypes)
        return self._session._plans.get(request.message) or self._session._keep(request, await self._channel.call(request))

    async def execute(self, op: Op, inputs: Mapping[str, Any], attributes: Optional[Mapping[str, Any]] = None, /, *,
                      out: Optional[Mapping[str, "Tensor"]] = None, stream: Optional["Stream"] = None,
                      **more: Any) -> Dict[str, "Tensor"]:
        """Both phases; the outputs by name, on the device."""
        executor = await self.plan(op, inputs, attributes, out=out, **more)
        return await executor.run(stream=stream)

    # ---- order

    async def stream(self) -> "Stream":
        """Another stream: its work runs beside that of the others."""
        await self._talk.room()
        return Stream(self, self._session.stream())

    async def event(self) -> "Event":
        """A mark that streams record and wait for."""
        await self._talk.room()
        return Event(self, self._session.event())

    async def synchronize(self) -> None:
        """Waits until all that was given is done. Raises the first failure."""
        await self._wait(self._session._begin_synchronize)

    async def memory(self) -> api.MemoryState:
        """What the session holds on the device, and what it may."""
        return (await self._ask(self._session._begin_memory)).memory

    @property
    def info(self) -> api.SessionInfo:
        """The session's limits."""
        return self._talk.info

    @property
    def draining(self) -> bool:
        """Whether the server said that it is stopping: it ends the session once nothing is under way."""
        return self._talk.draining

    async def _wait(self, begin: Callable[[], Pending]) -> api.Answer:
        await self._talk.room()
        return await self._told(begin())

    async def _told(self, command: Pending) -> api.Answer:
        try:
            return await self._talk.wait(command)
        except OpserveError:
            # The failure is told: streams that it stopped go on with what comes next.
            if self._talk.is_open:
                await self._talk.forgive(self._session._begin_synchronize())
            raise

    async def _ask(self, begin: Callable[[], Pending]) -> api.Answer:
        await self._talk.room()
        return await self._talk.ask(begin())

    # ---- the end

    async def close(self) -> None:
        """Finishes what was sent and frees everything. Raises the first failure that was not told."""
        await self._talk.finish()

    async def cancel(self) -> None:
        """Drops waiting commands and frees everything."""
        await self._talk.cancel()

    async def __aenter__(self) -> "Session":
        return await self._opened()

    async def __aexit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await (self.close() if kind is None else self.cancel())


class Stream:
    """Work in order. What a command of it fails with stops those behind it until that is told."""

    def __init__(self, session: Session, stream: _session.Stream) -> None:
        self.session = session
        self._stream = stream

    async def synchronize(self) -> None:
        """Waits until all that is on it is done. Raises the first failure."""
        await self.session._wait(self._stream._begin_synchronize)

    async def idle(self) -> bool:
        """Whether nothing runs and nothing waits."""
        return (await self.session._ask(self._stream._begin_query)).stream.idle

    async def wait(self, event: "Event") -> None:
        """What comes later on this stream runs once the event was reached."""
        await self.session._talk.room()
        self._stream.wait(event._event)

    def free(self) -> None:
        """Frees it now; work that uses it ends first."""
        self._stream.free()


class Event:
    """Reached when all that was on the stream, as it was recorded there, has ended."""

    def __init__(self, session: Session, event: _session.Event) -> None:
        self.session = session
        self._event = event

    async def record(self, stream: Optional[Stream] = None) -> "Event":
        await self.session._talk.room()
        self._event.record(_of(stream))
        return self

    async def reached(self) -> bool:
        return (await self.session._ask(self._event._begin_query)).event.reached

    async def synchronize(self) -> None:
        """Waits until it was reached."""
        await self.session._wait(self._event._begin_synchronize)

    async def seconds_since(self, start: "Event") -> float:
        """The time from when `start` was reached; both must have been."""
        answer = await self.session._wait(lambda: self._event._begin_elapsed_time(start._event))
        return answer.elapsed_time.elapsed_ns * 1e-9

    def free(self) -> None:
        """Frees it now; work that uses it ends first."""
        self._event.free()


class Tensor:
    """A dense tensor on the device."""

    def __init__(self, session: Session, tensor: _session.Tensor) -> None:
        self.session = session
        self._tensor = tensor
        self.shape: Tuple[int, ...] = tensor.shape
        self.dtype = tensor.dtype
        self.nbytes = tensor.nbytes
        self.size = tensor.size

    async def upload(self, value: Any, *, stream: Optional[Stream] = None, progress: Asked = None) -> None:
        """Writes an array of this shape and dtype. It may change when this returns. `progress` is that of Client.execute(), for this array."""
        with progress_of(progress) as told:
            await self.session._talk.room()
            for done in self._tensor._upload_pieces(value, _of(stream)):
                if told is not None:
                    told(done, self.nbytes)
                await self.session._talk.room()

    async def fill(self, value: Any, *, stream: Optional[Stream] = None) -> None:
        """Sets every element."""
        await self.session._talk.room()
        self._tensor.fill(value, stream=_of(stream))

    async def copy_from(self, other: "Tensor", *, stream: Optional[Stream] = None) -> None:
        """Copies a tensor of as many bytes, on the device."""
        await self.session._talk.room()
        self._tensor.copy_from(other._tensor, stream=_of(stream))

    async def numpy(self, *, stream: Optional[Stream] = None, progress: Asked = None) -> Array:
        """The elements, as a new array. Raises the first failure on the stream. `progress` is that of Client.execute(), for this array."""
        with progress_of(progress) as told:
            await self.session._talk.room()
            download = Download(self._tensor, _of(stream), told)
            await self.session._told(download.command)
        return download.array()

    def free(self) -> None:
        """Frees it now; work that uses it ends first."""
        self._tensor.free()

    def __repr__(self) -> str:
        return repr(self._tensor)


class Executor:
    """A planned call. `outputs` has the tensors that run() writes, by name."""

    def __init__(self, session: Session, executor: _session.Executor, inputs: Mapping[str, Tensor],
                 outputs: Mapping[str, Tensor]) -> None:
        self.session = session
        self._executor = executor
        self.op = executor.op
        self.inputs = dict(inputs)
        self.outputs = dict(outputs)

    async def run(self, *, stream: Optional[Stream] = None) -> Dict[str, Tensor]:
        """Phase two, in the stream's turn. Gives the outputs, without waiting."""
        await self.session._talk.room()
        self._executor.run(stream=_of(stream))
        return self.outputs

    def free(self) -> None:
        """Frees it now; work that uses it ends first."""
        self._executor.free()


def _of(stream: Optional[Stream]) -> Optional[_session.Stream]:
    return None if stream is None else stream._stream


def _inner(tensors: Mapping[str, Any]) -> Dict[str, _session.Tensor]:
    for name, value in tensors.items():
        if not isinstance(value, Tensor):
            raise TypeError(f"{name}: want a tensor of an opserve.aio session, got {type(value).__name__}")
    return {name: tensor._tensor for name, tensor in tensors.items()}
