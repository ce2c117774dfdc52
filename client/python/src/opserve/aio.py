"""opserve for asyncio: as `opserve`, awaited.

    async with opserve.aio.connect("localhost:8500") as c:
        r = await c.execute("SmoothL1LossBackward", {"grad_out": y, "self": x, "target": y}, reduction="none", beta=1.0)

Any number of calls may be under way; a task that is cancelled cancels its call. A client belongs to the event loop that it is first used on.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from types import TracebackType
from typing import Any, Dict, Generator, List, Mapping, Optional, Sequence, Type, TypeVar, Union

import grpc
import grpc.aio

from . import _requests
from ._aio_conversation import AioConversation
from ._aio_session import Session
from ._arrays import Array
from ._channel import MAX_ANSWER_BYTES, Target, Tls, default_target, left, waits
from ._execution import Execution
from ._local_memory import LIMIT_BYTES, PATIENCE_SECONDS, LocalMemory, Placed, local_memory
from ._operators import AsyncOperators
from ._progress import Asked, progress_of
from ._proto import operator_service_pb2 as api
from ._proto import statistics_pb2
from ._requests import SERVICE, Call, Op, Plan, Request, Result
from ._schema import Operator
from ._shared_memory import Regions, SharedMemory
from ._steps import run_awaited
from .errors import OpserveError, error_of_rpc

__all__ = ["Client", "Session", "connect"]
T = TypeVar("T")


class _Channel:
    """grpc.aio's channel, with the retries of the synchronous one."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._metadata = target.metadata
        credentials = target.credentials
        self._channel: Any = (grpc.aio.secure_channel(target.address, credentials, target.options) if credentials is not None
                              else grpc.aio.insecure_channel(target.address, target.options))
        self._methods: Dict[str, Any] = {}

    async def call(self, request: Request[T], timeout: Optional[float] = None) -> T:
        """Makes a call. Raises OpserveError."""
        timeout = self.target.timeout if timeout is None else timeout
        return await self.call_until(request, None if timeout is None else time.monotonic() + timeout)

    async def call_until(self, request: Request[T], deadline: Optional[float]) -> T:
        """The same, by a time of time.monotonic()."""
        try:
            answer = await self._try(request, deadline)
        except grpc.RpcError as error:
            answer = await self._try_again(request, deadline, error_of_rpc(error))
        return request.read(answer)

    async def call_once(self, request: Request[T], deadline: Optional[float]) -> T:
        """The same, never tried again."""
        try:
            answer = await self._try(request, deadline)
        except grpc.RpcError as error:
            raise error_of_rpc(error) from None
        return request.read(answer)

    def _try(self, request: Request[Any], deadline: Optional[float]) -> Any:
        method = self._methods.get(request.method)
        if method is None:
            method = self._methods[request.method] = self._channel.unary_unary(SERVICE + request.method)
        return method(request.message, timeout=left(deadline), metadata=self._metadata)

    async def _try_again(self, request: Request[Any], deadline: Optional[float], error: OpserveError) -> bytes:
        for pause in waits(lambda: error, deadline, time.monotonic):
            await asyncio.sleep(pause)
            try:
                answer: bytes = await self._try(request, deadline)
                return answer
            except grpc.RpcError as failed:
                error = error_of_rpc(failed)
        raise error

    def conversation(self, timeout: Optional[float]) -> AioConversation:
        """The RPC of a session."""
        return AioConversation(self._channel, self._metadata, timeout)

    async def close(self) -> None:
        await self._channel.close()


class connect:
    """A client of the server at `target`: `async with connect(…) as c`, or `c = await connect(…)`. The arguments are those of
    opserve.connect()."""

    def __init__(self, target: Optional[str] = None, *, timeout: Optional[float] = 5.0, tls: Tls = None,
                 token: Optional[str] = None, max_answer_bytes: int = MAX_ANSWER_BYTES,
                 shared_memory_bytes: int = LIMIT_BYTES) -> None:
        self._target = Target(target or default_target(), timeout, tls, token, max_answer_bytes)
        self._shared_memory_bytes = shared_memory_bytes
        self._client: Optional[Client] = None

    def __await__(self) -> Generator[Any, None, "Client"]:
        return self._opened().__await__()

    async def _opened(self) -> "Client":
        client = Client(self._target, self._shared_memory_bytes)
        try:
            client._execution.max_message_bytes = (await client.info()).max_message_bytes
        except BaseException:
            await client.close()
            raise
        return client

    async def __aenter__(self) -> "Client":
        self._client = await self._opened()
        return self._client

    async def __aexit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        if self._client is not None:
            await self._client.close()


class _Way:
    """The steps of a call, to be awaited."""

    def __init__(self, channel: _Channel) -> None:
        self.call = channel.call_until
        self.call_once = channel.call_once
        self.sleep = asyncio.sleep
        self._channel = channel
        # Its own: the loop's may be full of what waits for this call.
        self._placing = concurrent.futures.ThreadPoolExecutor(1, "opserve memory")
        self._loop: Optional[asyncio.AbstractEventLoop] = None

    async def place(self, memory: LocalMemory, call: Call) -> Optional[Placed]:
        """On a thread: the copies take milliseconds, and other tasks go on."""
        self._loop = asyncio.get_running_loop()
        placing = self._loop.run_in_executor(self._placing, memory.place, call)
        try:
            return await asyncio.shield(placing)
        except asyncio.CancelledError:
            placing.add_done_callback(lambda placed: _forget(memory, placed))
            raise

    def socket_of_server(self) -> str:
        """On that thread."""
        assert self._loop is not None  # place() waits for it
        info = asyncio.run_coroutine_threadsafe(self._channel.call(_requests.get_server_info()), self._loop)
        try:
            return info.result(PATIENCE_SECONDS).shared_memory_socket
        except concurrent.futures.TimeoutError:
            info.cancel()
            raise OSError("the server does not say where its shared memory is") from None

    def close(self) -> None:
        self._placing.shutdown(wait=False)

    async def open_session(self, device: str, timeout: Optional[float]) -> Session:
        return await Session(self._channel, device, timeout)

    async def end_session(self, session: Session, failed: bool) -> None:
        await (session.cancel() if failed else session.close())


def _forget(memory: LocalMemory, placing: "asyncio.Future[Optional[Placed]]") -> None:
    """Gives back what was placed for a call that was cancelled."""
    placed = None if placing.cancelled() or placing.exception() else placing.result()
    if placed is not None:
        memory.note_failure(placed)


class Client:
    """A connection to a server, as opserve.Client."""

    def __init__(self, target: Target, shared_memory_bytes: int = 0) -> None:
        self._channel = _Channel(target)
        self._regions = Regions()
        self._way = _Way(self._channel)
        self._memory = local_memory(target.is_local, shared_memory_bytes, self._regions, self._way.socket_of_server)
        self._execution = Execution(self._way, self._regions, self._memory, target.timeout)
        self._catalogue: Optional[Dict[str, Operator]] = None
        self._ops = AsyncOperators(self.operators, self._call_function)

    async def execute(self, op: Op, inputs: Mapping[str, Any], attributes: Optional[Mapping[str, Any]] = None, /, *,
                      out: Optional[Mapping[str, Array]] = None, device: str = "", timeout: Optional[float] = None,
                      report: bool = False, progress: Asked = None, **more: Any) -> Result:
        """Runs an operator or a program; gives its outputs by name. The arguments are those of opserve.Client.execute(). Arrays must not
        change until the call returns."""
        call = Call(op, inputs, {**(attributes or {}), **more}, {} if out is None else out, device, report)
        if progress is None:  # most calls are small
            return await run_awaited(self._execution.steps(call, timeout, None))
        with progress_of(progress) as told:
            return await run_awaited(self._execution.steps(call, timeout, told))

    async def execute_batch(self, calls: Sequence[Call], *,
                            timeout: Optional[float] = None) -> List[Union[Result, OpserveError]]:
        """Runs many calls in one message; each has its own result or error, in their order."""
        return await self._channel.call(_requests.execute_batch(calls, self._regions.locate), timeout)

    async def plan(self, op: Op, inputs: Mapping[str, Any], attributes: Optional[Mapping[str, Any]] = None, /, *,
                   device: str = "", timeout: Optional[float] = None, **more: Any) -> Plan:
        """Checks a call without running it; gives its outputs, workspace and expected time. Inputs are arrays or Spec(shape, dtype)."""
        call = Call(op, inputs, {**(attributes or {}), **more}, {}, device)
        return await self._channel.call(_requests.plan(call), timeout)

    async def operators(self) -> Dict[str, Operator]:
        """The server's operators by name; asked for once."""
        if self._catalogue is None:
            self._catalogue = {operator.name: operator for operator in await self._channel.call(_requests.list_operators())}
        return dict(self._catalogue)

    @property
    def ops(self) -> AsyncOperators:
        """Every operator as a function, to be awaited: `await c.ops.hardshrink(x, lambd=0.5)`."""
        return self._ops

    async def _call_function(self, operator: Operator, inputs: Dict[str, Any], attributes: Dict[str, Any],
                             options: Dict[str, Any]) -> Any:
        if len(operator.outputs) != 1:
            return await self.execute(operator.name, inputs, attributes, **options)
        output = operator.outputs[0].name
        if "out" in options:
            options["out"] = {output: options["out"]}
        return (await self.execute(operator.name, inputs, attributes, **options))[output]

    async def devices(self) -> List[api.Device]:
        """The server's devices."""
        return await self._channel.call(_requests.list_devices())

    async def statistics(self) -> statistics_pb2.GetStatisticsResponse:
        """What the server has counted since it started."""
        statistics: statistics_pb2.GetStatisticsResponse = await self._channel.call(_requests.get_statistics())
        return statistics

    async def info(self) -> api.GetServerInfoResponse:
        """The server's version and limits."""
        return await self._channel.call(_requests.get_server_info())

    async def shared_memory(self, size_bytes: int) -> SharedMemory:
        """Memory that this process and a server on this host share, as of opserve.Client."""
        path = (await self.info()).shared_memory_socket
        return await asyncio.get_running_loop().run_in_executor(None, self._regions.allocate, path, size_bytes)

    def session(self, *, device: str = "", timeout: Optional[float] = None) -> Session:
        """A session, to be opened: `async with c.session() as s`, or `s = await c.session()`. `timeout` bounds all of it."""
        return Session(self._channel, device, timeout)

    async def close(self) -> None:
        """Ends the connection and releases shared memory."""
        self._way.close()
        if self._memory is not None:
            self._memory.close()
        self._regions.close()
        await self._channel.close()
