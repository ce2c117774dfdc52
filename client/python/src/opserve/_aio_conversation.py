"""The bidirectional RPC below a session of opserve.aio: tasks send commands and read answers."""

from __future__ import annotations

import asyncio
from typing import Any, Callable, List, Optional

import grpc
import grpc.aio

from ._exchange import METHOD, Exchange, Item, OnChunk, Pending, caller
from ._proto import session_pb2 as api
from ._wire import Buffer
from .errors import OpserveError, bad_answer, error_of_rpc


class AioConversation:
    """An exchange of commands and answers on one event loop. send() waits for nothing: room() is awaited before."""

    def __init__(self, channel: Any, metadata: Any, timeout: Optional[float]) -> None:
        self._exchange = Exchange()
        self._queue: "asyncio.Queue[Optional[Item]]" = asyncio.Queue()
        self._waiters: "List[asyncio.Future[None]]" = []
        self._rpc = channel.stream_stream(METHOD)(timeout=timeout, metadata=metadata)
        self._tasks = [asyncio.ensure_future(self._read()), asyncio.ensure_future(self._write())]

    async def opened(self) -> None:
        """Waits for the server's limits."""
        await self._until(lambda: self._exchange.info is not None)

    @property
    def info(self) -> api.SessionInfo:
        assert self._exchange.info is not None
        return self._exchange.info

    # ---- commands out

    async def room(self) -> None:
        """Waits while too much is under way."""
        await self._until(self._exchange.has_room)

    def send(self, data: Buffer = b"", *, stream: int = 0, on_chunk: Optional[OnChunk] = None, **command: Any) -> Pending:
        """Sends a command, as send(free={"buffer": 1}); an upload with its `data`."""
        self._exchange.raise_ended()
        for discarded in self._exchange.discarded():
            self._queue.put_nowait((self._exchange.put(0, "a finalizer", None, discarded)[1], b""))
        self._exchange.waiting_bytes += len(data)
        pending, message = self._exchange.put(stream, caller(), on_chunk, command)
        self._queue.put_nowait((message, data))
        return pending

    def discard(self, **command: Any) -> None:
        """Sends a command later, with another one. It may be called by a finalizer."""
        self._exchange.discard(command)

    async def _write(self) -> None:
        try:
            item = await self._queue.get()
            while item is not None:
                outbox = self._exchange.outbox()
                while item is not None and not outbox.add(item) and not self._queue.empty():
                    item = self._queue.get_nowait()
                await self._rpc.write(outbox.message())
                self._exchange.waiting_bytes -= outbox.data_bytes
                self._tell()
                if item is not None:
                    item = await self._queue.get()
            await self._rpc.done_writing()
        except (grpc.RpcError, asyncio.InvalidStateError):
            pass  # the RPC is over: the reader is told why

    # ---- answers in

    async def _read(self) -> None:
        ended = OpserveError("the session is over", code=grpc.StatusCode.CANCELLED)
        try:
            while True:
                message = await self._rpc.read()
                if message is grpc.aio.EOF:
                    break
                self._exchange.take(message)
                self._tell()
        except asyncio.CancelledError:
            self._rpc.cancel()
        except grpc.RpcError as error:
            ended = error_of_rpc(error)
        except OpserveError as error:
            ended = error
            self._rpc.cancel()
        except Exception as error:  # what protobuf raises for bytes that are no message
            ended = bad_answer(str(error))
            self._rpc.cancel()
        self._exchange.ended = ended
        self._queue.put_nowait(None)  # the writer waits for more
        self._tell()

    # ---- waiting

    async def wait(self, command: Pending) -> api.Answer:
        """The last answer of a command. Raises the first failure among it and what came before it, on its stream or on none."""
        await self._until(lambda: self._exchange.is_settled(command))
        return self._exchange.outcome(command)

    async def ask(self, query: Pending) -> api.Answer:
        """The answer of a query, which waits for nothing else. Raises its failure."""
        await self._until(lambda: query.over)
        return self._exchange.answer_of(query)

    async def forgive(self, command: Pending) -> None:
        """Waits for a command that tells the server that failures were told, and drops those that only followed from them."""
        await self._until(lambda: command.over)
        self._exchange.forgive(command)

    async def _until(self, condition: Callable[[], bool]) -> None:
        """Raises what ended the session, if that comes first."""
        while not condition():
            self._exchange.raise_ended()
            waiter: "asyncio.Future[None]" = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter

    def _tell(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    @property
    def is_open(self) -> bool:
        """Whether the RPC goes on."""
        return self._exchange.ended is None

    @property
    def draining(self) -> bool:
        """Whether the server said that it is stopping."""
        return self._exchange.draining

    async def finish(self) -> None:
        """Half-closes, waits for the server to finish what was sent, and raises the first failure that was not told."""
        self._queue.put_nowait(None)
        await asyncio.wait(self._tasks)
        self._exchange.raise_untold()

    async def cancel(self) -> None:
        """Ends the RPC at once: the server drops waiting commands."""
        self._queue.put_nowait(None)
        self._rpc.cancel()
        await asyncio.wait(self._tasks)
