"""How calls travel: targets, credentials, retries; and the channel of synchronous clients."""

from __future__ import annotations

import os
import random
import threading
import time
import weakref
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple, TypeVar, Union

import grpc

from ._requests import SERVICE, Request
from .errors import CallTimeoutError, OpserveError, error_of_rpc

T = TypeVar("T")
Metadata = Optional[Tuple[Tuple[str, str], ...]]
Tls = Union[None, bool, str, "os.PathLike[str]", grpc.ChannelCredentials]

# A call is tried this often; the waits between double from the first, unless the server says how long.
TRIES = 4
FIRST_WAIT_SECONDS = 0.1
# gRPC gives up a connection that is not there by then; by its name this is a backoff.
CONNECT_MILLISECONDS = 5000
MAX_ANSWER_BYTES = 1 << 30


def default_target() -> str:
    """The server that OPSERVE_TARGET in the environment names, else one on this host."""
    return os.environ.get("OPSERVE_TARGET") or "localhost:8500"


@dataclass(frozen=True)
class Target:
    """Where a server is, and how to speak to it."""

    address: str
    timeout: Optional[float]
    tls: Tls
    token: Optional[str]
    max_answer_bytes: int

    def __post_init__(self) -> None:
        if self.token is not None and not self.tls and not self.is_local:
            raise ValueError(f"a token needs tls=True on its way to {self.address}: in clear text anyone could read it")

    @property
    def is_local(self) -> bool:
        """Whether the server is on this host, as far as the address says."""
        host = self.address.rpartition(":")[0]
        return self.address.startswith("unix:") or host in ("localhost", "127.0.0.1", "[::1]")

    @property
    def metadata(self) -> Metadata:
        return (("authorization", f"Bearer {self.token}"),) if self.token is not None else None

    @property
    def options(self) -> List[Tuple[str, Union[int, str]]]:
        spread = self.address.startswith(("dns:", "ipv4:", "ipv6:"))  # over all addresses that these have
        policy: List[Tuple[str, Union[int, str]]] = [("grpc.lb_policy_name", "round_robin")] if spread else []
        return [*policy, ("grpc.max_receive_message_length", self.max_answer_bytes), ("grpc.max_send_message_length", -1),
                ("grpc.use_local_subchannel_pool", 1), ("grpc.compression_enabled_algorithms_bitset", 1),
                ("grpc.initial_reconnect_backoff_ms", 100), ("grpc.min_reconnect_backoff_ms", CONNECT_MILLISECONDS),
                ("grpc.max_reconnect_backoff_ms", 2000), ("grpc.enable_retries", 0)]

    @property
    def credentials(self) -> Optional[grpc.ChannelCredentials]:
        """None for clear text."""
        if not self.tls:
            return None
        if isinstance(self.tls, grpc.ChannelCredentials):
            return self.tls
        if self.tls is True:
            return grpc.ssl_channel_credentials()
        with open(self.tls, "rb") as certificates:
            return grpc.ssl_channel_credentials(certificates.read())


def waits(error_of: Callable[[], OpserveError], deadline: Optional[float], now: Callable[[], float]) -> Iterator[float]:
    """How long to wait before each further try of a call that failed; ends where another try is of no use or would be too late.

    Every unary method may be retried. UNAVAILABLE is; RESOURCE_EXHAUSTED is where the server says when.
    """
    backoff = FIRST_WAIT_SECONDS
    for _ in range(TRIES - 1):
        error = error_of()
        if error.retry_after is None and error.code is not grpc.StatusCode.UNAVAILABLE:
            return
        wait = error.retry_after if error.retry_after is not None else backoff * random.uniform(0.8, 1.2)
        if deadline is not None and now() + wait >= deadline:
            return
        yield wait
        backoff *= 2


_channels: "weakref.WeakSet[Channel]" = weakref.WeakSet()


def _after_fork() -> None:
    for channel in list(_channels):
        channel.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class _Open(NamedTuple):
    """A channel of gRPC, the process that made it, and its methods by name."""

    process: int
    channel: Any
    methods: Dict[str, Any]


class Channel:
    """The channel of a synchronous client. Any number of threads may use it; after a fork, the child makes its own.

    The main thread, which Ctrl-C interrupts, has a connection of its own: gRPC does not end a call that its caller leaves so, unless
    its channel is closed.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        self._metadata = target.metadata
        self._lock = threading.Lock()
        self._closed = False
        self._open: Dict[bool, _Open] = {}  # by whether it is the main thread's
        _channels.add(self)

    def after_fork(self) -> None:
        """In the child. The parent's channels are left as they are: closing them here would end calls of the parent."""
        self._lock = threading.Lock()

    def get(self, *, of_main_thread: bool = False) -> _Open:
        """gRPC's channel of this process."""
        process = os.getpid()
        found = self._open.get(of_main_thread)
        if found is not None and found.process == process:
            return found
        with self._lock:
            if self._closed:
                raise ValueError("the client is closed")
            found = self._open.get(of_main_thread)
            if found is None or found.process != process:
                found = self._open[of_main_thread] = _Open(process, self._made(), {})
        return found

    def _made(self) -> Any:
        credentials, address, options = self.target.credentials, self.target.address, self.target.options
        return (grpc.secure_channel(address, credentials, options) if credentials is not None
                else grpc.insecure_channel(address, options))

    def call(self, request: Request[T], timeout: Optional[float] = None) -> T:
        """Makes a call. Raises OpserveError."""
        timeout = self.target.timeout if timeout is None else timeout
        return self.call_until(request, None if timeout is None else time.monotonic() + timeout)

    def call_until(self, request: Request[T], deadline: Optional[float]) -> T:
        """The same, by a time of time.monotonic()."""
        try:
            answer = self._try(request, deadline)
        except grpc.RpcError as error:
            answer = self._try_again(request, deadline, error_of_rpc(error))
        return request.read(answer)

    def call_once(self, request: Request[T], deadline: Optional[float]) -> T:
        """The same, never tried again."""
        try:
            answer = self._try(request, deadline)
        except grpc.RpcError as error:
            raise error_of_rpc(error) from None
        return request.read(answer)

    def _try_again(self, request: Request[Any], deadline: Optional[float], error: OpserveError) -> bytes:
        for pause in waits(lambda: error, deadline, time.monotonic):
            time.sleep(pause)
            try:
                return self._try(request, deadline)
            except grpc.RpcError as failed:
                error = error_of_rpc(failed)
        raise error

    def _try(self, request: Request[Any], deadline: Optional[float]) -> bytes:
        is_main = threading.get_ident() == threading.main_thread().ident
        found = self.get(of_main_thread=is_main)
        method = found.methods.get(request.method)
        if method is None:
            method = found.methods[request.method] = found.channel.unary_unary(SERVICE + request.method)  # bytes out, bytes in
        try:
            return method(request.message, timeout=left(deadline), metadata=self._metadata)  # type: ignore[no-any-return]
        except KeyboardInterrupt:
            with self._lock:
                if self._open.get(is_main) is found:
                    del self._open[is_main]
            found.channel.close()
            raise

    def close(self) -> None:
        """Ends the connections. Later calls raise ValueError."""
        with self._lock:
            self._closed = True
            mine = [found.channel for found in self._open.values() if found.process == os.getpid()]
            self._open.clear()
        for channel in mine:
            channel.close()


def left(deadline: Optional[float]) -> Optional[float]:
    """Seconds until the deadline. CallTimeoutError where it has passed."""
    seconds = None if deadline is None else deadline - time.monotonic()
    if seconds is not None and seconds <= 0:
        raise CallTimeoutError("the deadline passed before the call was sent", code=grpc.StatusCode.DEADLINE_EXCEEDED)
    return seconds
