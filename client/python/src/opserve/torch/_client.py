"""The client that functions and modules call."""

from __future__ import annotations

import os
import threading
from types import TracebackType
from typing import List, NamedTuple, Optional, Type

from .._client import Client, connect
from .._session import Session


class Used(NamedTuple):
    """A client, and the session that keeps tensors on its server, if one does."""

    client: Client
    session: Optional[Session]


_lock = threading.Lock()
_used: List[Used] = []
_default: Optional[Used] = None


class use:
    """Makes a client the one that is called, in all threads: from now on, or for a `with` block.

    With a session of the client's, what a forward call leaves for its gradient stays on the server: its inputs, and outputs as mean,
    rstd and log_alpha.
    """

    def __init__(self, client: Client, *, session: Optional[Session] = None) -> None:
        self._mine = Used(client, session)
        with _lock:
            _used.append(self._mine)

    def __enter__(self) -> Client:
        return self._mine.client

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        with _lock:
            last = max(number for number, used in enumerate(_used) if used is self._mine)
            del _used[last]


def current() -> Used:
    """What use() named last; else a client of the server that $OPSERVE_TARGET names. RuntimeError where there is neither."""
    global _default
    with _lock:
        if _used:
            return _used[-1]
        if _default is None:
            target = os.environ.get("OPSERVE_TARGET")
            if not target:
                raise RuntimeError("no server: call opserve.torch.use(client), or set OPSERVE_TARGET")
            _default = Used(connect(target, timeout=None), None)
        return _default
