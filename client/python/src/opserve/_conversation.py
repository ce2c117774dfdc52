"""The bidirectional RPC below a session of the synchronous client: threads send commands and read answers."""

from __future__ import annotations

import queue
import threading
from typing import Any, Callable, Dict, Iterator, Optional

import grpc

from ._channel import Channel
from ._exchange import METHOD, Exchange, Item, OnChunk, Pending, caller
from ._proto import session_pb2 as api
from ._wire import Buffer
from .errors import OpserveError, bad_answer, error_of_rpc


class Conversation:
    """An exchange of commands and answers. Any thread may send. One thread of ours reads the answers, one of gRPC's sends."""

    def __init__(self, channel: Channel, timeout: Optional[float]) -> None:
        self._queue: "queue.SimpleQueue[Optional[Item]]" = queue.SimpleQueue()
        self._sending = threading.Lock()
        self._changed = threading.Condition()
        self._exchange = Exchange()  # under _changed
        method = channel.get().channel.stream_stream(METHOD)
        self._rpc: Any = method(self._messages(), timeout=timeout, metadata=channel.target.metadata)
        self._reader = threading.Thread(target=self._read, daemon=True, name="opserve session")
        self._reader.start()
        with self._changed:
            self._wait_for(lambda: self._exchange.info is not None)
            assert self._exchange.info is not None
            self.info: api.SessionInfo = self._exchange.info

    # ---- commands out

    def send(self, data: Buffer = b"", *, stream: int = 0, on_chunk: Optional[OnChunk] = None, **command: Any) -> Pending:
        """Sends a command, as send(free={"buffer": 1}); an upload with its `data`. Waits only while too much is under way."""
        place = caller()
        for discarded in self._exchange.discarded():
            self._put(b"", 0, "a finalizer", None, discarded)
        with self._changed:
            self._wait_for(self._exchange.has_room)
            self._exchange.raise_ended()
            self._exchange.waiting_bytes += len(data)
        return self._put(data, stream, place, on_chunk, command)

    def _put(self, data: Buffer, stream: int, place: str, on_chunk: Optional[OnChunk], command: Dict[str, Any]) -> Pending:
        with self._sending:  # numbers must go out in order
            with self._changed:
                pending, message = self._exchange.put(stream, place, on_chunk, command)
            self._queue.put((message, data))
        return pending

    def discard(self, **command: Any) -> None:
        """Sends a command later, with another one. It may be called by a finalizer: it takes no lock."""
        self._exchange.discard(command)

    def _messages(self) -> Iterator[bytes]:
        item = self._queue.get()
        while item is not None:
            outbox = self._exchange.outbox()
            while item is not None and not outbox.add(item) and not self._queue.empty():
                item = self._queue.get()
            yield outbox.message()
            with self._changed:
                self._exchange.waiting_bytes -= outbox.data_bytes
                self._changed.notify_all()
            if item is not None:
                item = self._queue.get()

    # ---- answers in

    def _read(self) -> None:
        try:
            for message in self._rpc:
                with self._changed:
                    self._exchange.take(message)
                    self._changed.notify_all()
            ended = OpserveError("the session is over", code=grpc.StatusCode.CANCELLED)
        except grpc.RpcError as error:
            ended = error_of_rpc(error)
        except OpserveError as error:
            ended = error
            self._rpc.cancel()
        except Exception as error:  # what protobuf raises for bytes that are no message
            ended = bad_answer(str(error))
            self._rpc.cancel()
        with self._changed:
            self._exchange.ended = ended
            self._changed.notify_all()
        self._queue.put(None)  # the sender waits for more

    # ---- waiting

    def wait(self, command: Pending) -> api.Answer:
        """The last answer of a command. Raises the first failure among it and what came before it, on its stream or on none."""
        with self._changed:
            self._wait_for(lambda: self._exchange.is_settled(command))
            return self._exchange.outcome(command)

    def ask(self, query: Pending) -> api.Answer:
        """The answer of a query, which waits for nothing else. Raises its failure."""
        with self._changed:
            self._wait_for(lambda: query.over)
            return self._exchange.answer_of(query)

    def _wait_for(self, condition: Callable[[], bool]) -> None:
        """Under _changed. Raises what ended the session, if that comes first."""
        self._changed.wait_for(lambda: condition() or self._exchange.ended is not None)
        if not condition():
            self._exchange.raise_ended()

    def forgive(self, command: Pending) -> None:
        """Waits for a command that tells the server that failures were told, and drops those that only followed from them."""
        with self._changed:
            self._wait_for(lambda: command.over)
            self._exchange.forgive(command)

    @property
    def is_open(self) -> bool:
        """Whether the RPC goes on."""
        with self._changed:
            return self._exchange.ended is None

    @property
    def draining(self) -> bool:
        """Whether the server said that it is stopping."""
        with self._changed:
            return self._exchange.draining

    def finish(self) -> None:
        """Half-closes, waits for the server to finish what was sent, and raises the first failure that was not told."""
        self._queue.put(None)
        self._reader.join()
        with self._changed:
            self._exchange.raise_untold()

    def cancel(self) -> None:
        """Ends the RPC at once: the server drops waiting commands."""
        self._queue.put(None)
        self._rpc.cancel()
        self._reader.join()
