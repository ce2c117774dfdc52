"""The client that functions and modules call."""

from __future__ import annotations

import os
import threading
from types import TracebackType
from typing import List, Optional, Type

from .._client import Client, connect

_lock = threading.Lock()
_used: List[Client] = []
_default: Optional[Client] = None


class use:
    """Makes a client the one that is called, in all threads: from now on, or for a `with` block."""

    def __init__(self, client: Client) -> None:
        self._client = client
        with _lock:
            _used.append(client)

    def __enter__(self) -> Client:
        return self._client

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        with _lock:
            last = len(_used) - 1 - _used[::-1].index(self._client)
            del _used[last]


def current() -> Client:
    """The client that use() named last; else one of the server that $OPSERVE_TARGET names. RuntimeError where there is neither."""
    global _default
    with _lock:
        if _used:
            return _used[-1]
        if _default is None:
            target = os.environ.get("OPSERVE_TARGET")
            if not target:
                raise RuntimeError("no server: call opserve.torch.use(client), or set OPSERVE_TARGET")
            _default = connect(target, timeout=None)
        return _default
