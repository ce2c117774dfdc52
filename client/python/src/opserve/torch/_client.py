"""The client that functions and modules call."""

from __future__ import annotations

import os
import threading
from types import TracebackType
from typing import List, NamedTuple, Optional, Type

from .._client import Client, connect
from .._session import Session


# Sending less a second time is faster than keeping it in a session.
RESIDENT_BYTES = 1 << 18


class Used(NamedTuple):
    """A client, the session that keeps tensors on its server, if one does, and from how many bytes of a call's inputs on."""

    client: Client
    session: Optional[Session]
    resident_bytes: int = RESIDENT_BYTES

    def session_for(self, size_bytes: int) -> Optional[Session]:
        """The session, for a call whose inputs have so many bytes; None where the call is one by itself."""
        return self.session if size_bytes >= self.resident_bytes else None


_lock = threading.Lock()
_used: List[Used] = []
_default: Optional[Used] = None


class use:
    """Makes a client the one that is called, in all threads: from now on, or for a `with` block.

    With a session of the client's, the server keeps what a gradient needs from its forward call: its inputs, and outputs such as mean,
    rstd and log_alpha. It does so for calls whose inputs total `resident_bytes` or more, because sending smaller inputs a second time is
    faster.
    """

    def __init__(self, client: Client, *, session: Optional[Session] = None, resident_bytes: int = RESIDENT_BYTES) -> None:
        self._mine = Used(client, session, resident_bytes)
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
