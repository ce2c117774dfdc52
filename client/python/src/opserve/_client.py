"""The synchronous client."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Any, Dict, List, Mapping, Optional, Sequence, Type, Union

from . import _requests
from ._arrays import Array
from ._channel import MAX_ANSWER_BYTES, Channel, Target, Tls, default_target
from ._conversation import Conversation
from ._execution import Execution
from ._local_memory import LIMIT_BYTES, LocalMemory, Placed, local_memory
from ._operators import Operators
from ._program import program_among
from ._progress import Asked, progress_of
from ._proto import operator_service_pb2 as api
from ._proto import statistics_pb2
from ._requests import Call, Op, Plan, Result
from ._schema import Operator
from ._session import Session
from ._shared_memory import Regions, SharedMemory
from ._steps import run
from .errors import OpserveError


def connect(target: Optional[str] = None, *, timeout: Optional[float] = 5.0, tls: Tls = None, token: Optional[str] = None,
            max_answer_bytes: int = MAX_ANSWER_BYTES, shared_memory_bytes: int = LIMIT_BYTES) -> "Client":
    """A client of a server; it is asked for its limits here.

    target    "host:port", "unix:/path", or "dns:///host:port": calls go in turn to all addresses that the name has; without it that
              of OPSERVE_TARGET in the environment, or "localhost:8500"
    timeout   seconds that each call may take, those of its retries included, unless the call says otherwise; None = any
    tls       True for the system's certificates, a file of certificates, or grpc.ChannelCredentials; None = clear text
    token     sent as `authorization: Bearer …` with each call; over a network only with tls
    shared_memory_bytes
              how much memory execute() shares with a server on this host, to send large arrays by it; 0, or
              OPSERVE_SHARED_MEMORY=off in the environment: none
    """
    client = Client(Target(target or default_target(), timeout, tls, token, max_answer_bytes), shared_memory_bytes)
    try:
        client._execution.max_message_bytes = client.info().max_message_bytes
    except BaseException:
        client.close()
        raise
    return client


class _Way:
    """The steps of a call, done at once."""

    def __init__(self, channel: Channel) -> None:
        self.call = channel.call_until
        self.call_once = channel.call_once
        self.sleep = time.sleep
        self._channel = channel

    def place(self, memory: LocalMemory, call: Call) -> Optional[Placed]:
        return memory.place(call)

    def socket_of_server(self) -> str:
        return self._channel.call(_requests.get_server_info()).shared_memory_socket

    def open_session(self, device: str, timeout: Optional[float]) -> Session:
        return Session(self._channel, device, Conversation(self._channel, timeout))

    def end_session(self, session: Session, failed: bool) -> None:
        if failed:
            session.cancel()
        else:
            session.close()


class Client:
    """A connection to a server. Any number of threads may use it, and processes that are forked from this one."""

    def __init__(self, target: Target, shared_memory_bytes: int = 0) -> None:
        self._channel = Channel(target)
        self._regions = Regions()
        self._lock = threading.Lock()
        self._catalogue: Optional[Dict[str, Operator]] = None
        self._ops: Optional[Operators] = None
        way = _Way(self._channel)
        self._memory = local_memory(target.is_local, shared_memory_bytes, self._regions, way.socket_of_server)
        self._execution = Execution(way, self._regions, self._memory, target.timeout)

    def execute(self, op: Op, inputs: Mapping[str, Any], attributes: Optional[Mapping[str, Any]] = None, /, *,
                out: Optional[Mapping[str, Array]] = None, device: str = "", timeout: Optional[float] = None,
                report: bool = False, progress: Asked = None, **more: Any) -> Result:
        """Runs an operator or a program; gives its outputs by name. What is larger than a message may be goes through a session, in pieces.

        inputs      arrays by name (see the guide for what counts as one); a number takes the dtype of the arrays beside it
        attributes  by name, as a mapping or as further arguments; those with a default may be left out
        out         arrays by name that outputs are written to, in their dtype; those of shared memory are written by the server
        device      "cpu:0"; the server's first unless given
        report      asks for Result.execution; there is none of a call that went through a session
        progress    called during such a call with the bytes sent and received so far, and their total: progress(done, total);
                    True or "tqdm" shows a bar of tqdm
        """
        call = Call(op, inputs, {**(attributes or {}), **more}, {} if out is None else out, device, report)
        if progress is None:  # most calls are small
            return run(self._execution.steps(call, timeout, None))
        with progress_of(progress) as told:
            return run(self._execution.steps(call, timeout, told))

    def execute_batch(self, calls: Sequence[Call], *, timeout: Optional[float] = None) -> List[Union[Result, OpserveError]]:
        """Runs many calls in one message; each has its own result or error, in their order."""
        return self._channel.call(_requests.execute_batch(calls, self._regions.locate), timeout)

    def plan(self, op: Op, inputs: Mapping[str, Any], attributes: Optional[Mapping[str, Any]] = None, /, *, device: str = "",
             timeout: Optional[float] = None, **more: Any) -> Plan:
        """Checks a call without running it; gives its outputs, workspace and expected time. Inputs are arrays or Spec(shape, dtype)."""
        return self._channel.call(_requests.plan(Call(op, inputs, {**(attributes or {}), **more}, {}, device)), timeout)

    def operators(self) -> Dict[str, Operator]:
        """The server's operators by name; asked for once."""
        with self._lock:
            catalogue = self._catalogue
        if catalogue is None:
            catalogue = {operator.name: operator for operator in self._channel.call(_requests.list_operators())}
            with self._lock:
                self._catalogue = catalogue
        return dict(catalogue)

    @property
    def ops(self) -> Operators:
        """Every operator as a function: c.ops.smooth_l1_loss_backward(...). With a program's values it is a step of the program."""
        if self._ops is None:
            self._ops = Operators(self.operators(), self._call_function)
        return self._ops

    def _call_function(self, operator: Operator, inputs: Dict[str, Any], attributes: Dict[str, Any], options: Dict[str, Any]) -> Any:
        program = program_among(inputs)
        if program is not None:
            if options:
                raise ValueError(f"{operator.name}: want no {', '.join(options)} for a step of a program, got them")
            return program.call(operator.name, inputs, attributes)
        if len(operator.outputs) != 1:
            return self.execute(operator.name, inputs, attributes, **options)
        output = operator.outputs[0].name
        if "out" in options:
            options["out"] = {output: options["out"]}
        return self.execute(operator.name, inputs, attributes, **options)[output]

    def devices(self) -> List[api.Device]:
        """The server's devices; the first is the one that calls run on unless they name another."""
        return self._channel.call(_requests.list_devices())

    def statistics(self) -> statistics_pb2.GetStatisticsResponse:
        """What the server has counted since it started."""
        statistics: statistics_pb2.GetStatisticsResponse = self._channel.call(_requests.get_statistics())
        return statistics

    def info(self) -> api.GetServerInfoResponse:
        """The server's version and limits."""
        return self._channel.call(_requests.get_server_info())

    def shared_memory(self, size_bytes: int) -> SharedMemory:
        """Memory that this process and a server on this host share. Arrays in it are not sent: the server reads inputs, and writes
        what `out` names, where they lie."""
        return self._regions.allocate(self.info().shared_memory_socket, size_bytes)

    def session(self, *, device: str = "", timeout: Optional[float] = None) -> Session:
        """A session: tensors that stay on the server, commands that nothing waits for. `timeout` bounds all of it."""
        return Session(self._channel, device, Conversation(self._channel, timeout))

    def close(self) -> None:
        """Ends the connection and releases shared memory."""
        if self._memory is not None:
            self._memory.close()
        self._regions.close()
        self._channel.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<opserve.Client of {self._channel.target.address}>"
