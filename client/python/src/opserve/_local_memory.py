"""Large tensors of calls to a server on this host, in shared memory by themselves: docs/shared_memory.md#by-itself."""

from __future__ import annotations

import collections
import os
import threading
import time
import weakref
from typing import Any, Callable, Deque, Dict, List, NamedTuple, Optional, Tuple

import grpc
import numpy as np

from ._arrays import Array, as_arrays, little_endian
from ._requests import Call, Result, attributes_of
from ._shared_memory import ALIGNMENT, Regions, SharedMemory
from .errors import OpserveError, ResourceError

LARGE_BYTES = 64 << 10
LIMIT_BYTES = 1 << 30
IDLE_SECONDS = 10.0
PATIENCE_SECONDS = 1.0  # with a socket that the server named: bytes would be there by then
# A client leaves the memory alone for so long after a refusal, and twice as long after the next one.
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 64.0
MAX_KINDS = 512
# How a server answers a call that it did not begin: for where its tensors are, or because it is wrong.
_MAY_BE_REFUSALS = (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND, grpc.StatusCode.FAILED_PRECONDITION)
Outputs = Dict[str, Tuple["np.dtype[Any]", Tuple[int, ...]]]


def local_memory(is_local: bool, limit_bytes: int, given: Regions, socket_of_server: Callable[[], str]) -> "Optional[LocalMemory]":
    """Of a client, unless its server is on another host, or the program wants none."""
    if limit_bytes <= 0 or not is_local or os.environ.get("OPSERVE_SHARED_MEMORY") == "off":
        return None
    return LocalMemory(limit_bytes, given, socket_of_server)


def may_be_refusal(error: OpserveError) -> bool:
    return error.code in _MAY_BE_REFUSALS


def is_too_long(error: OpserveError) -> bool:
    """Whether only the answer is: outputs that are known by then need none."""
    return isinstance(error, ResourceError) and error.parameter == "max_message_bytes"


class Placed(NamedTuple):
    """A call whose large tensors lie in regions: inputs in one, which is free after the call, unless all lay there before; each
    output in one of its own."""

    call: Call
    inputs: Optional[SharedMemory]
    outputs: List[SharedMemory]
    kind: Any


class _Idle(NamedTuple):
    region: SharedMemory
    since: float


_memories: "weakref.WeakSet[LocalMemory]" = weakref.WeakSet()


def _after_fork() -> None:
    for memory in list(_memories):
        memory.begin()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class LocalMemory:
    """The regions of a client for such calls. Thread-safe; a process that is forked begins anew."""

    def __init__(self, limit_bytes: int, given: Regions, socket_of_server: Callable[[], str]) -> None:
        self._limit_bytes = limit_bytes
        self._given = given
        self._socket_of_server = socket_of_server
        self.begin()
        _memories.add(self)

    def begin(self) -> None:
        """With no regions, and a lock that nobody holds."""
        self._lock = threading.Lock()
        self._kinds: Dict[Any, Outputs] = {}
        self.regions = Regions()
        self._socket = ""
        self._held_bytes = 0
        self._idle: List[_Idle] = []
        # What results gave back: a finalizer may run while this thread holds the lock.
        self._returned: Deque[SharedMemory] = collections.deque()
        self._off_until = 0.0
        self._pause = FIRST_PAUSE_SECONDS
        self._is_closed = False

    def is_for(self, call: Call) -> bool:
        """Whether place() may do something for it: other calls go by bytes."""
        has_large_input = any(getattr(value, "nbytes", 0) >= LARGE_BYTES for value in call.inputs.values())
        return has_large_input and time.monotonic() >= self._off_until

    def place(self, call: Call) -> Optional[Placed]:
        """None for a call that goes by bytes: a large input is not dense (of one that is broadcast few bytes are sent), or there is no
        memory for it now."""
        arrays = as_arrays(call.inputs)
        large = {name: array for name, array in arrays.items() if array.nbytes >= LARGE_BYTES}
        if not all(array.flags.c_contiguous for array in large.values()):
            return None
        large = {name: array for name, array in large.items() if self.locate(array) is None}
        kind = _kind(call, arrays)
        known = self._kinds.get(kind) or {}
        sizes = [int(np.prod(shape)) * dtype.itemsize for dtype, shape in known.values()]
        if large:
            sizes.append(sum(_aligned(array.nbytes) for array in large.values()))
        regions = self._lease(sizes)
        if regions is None:
            return None
        inputs = regions.pop() if large else None
        if inputs is not None:
            start, root = 0, inputs.new_root()
            for name, array in large.items():
                place = _view(root, start, little_endian(array.dtype), array.shape)
                np.copyto(place, array)
                arrays[name] = place
                start += _aligned(array.nbytes)
        out = {}
        for region, (name, (dtype, shape)) in zip(regions, known.items()):
            root = region.new_root()
            # All arrays that look into it have it as their base: it goes with the last of them.
            weakref.finalize(root, self._give_back, region).atexit = False
            out[name] = _view(root, 0, dtype, shape)
        return Placed(Call(call.op, arrays, call.attributes, out or call.out, call.device, call.report), inputs, regions, kind)

    def locate(self, array: Array) -> Optional[Dict[str, Any]]:
        """Where it lies in a region, of these or of those that the program made; None for one in none."""
        return self._given.locate(array) or self.regions.locate(array)

    def note_success(self, placed: Placed, result: Result) -> None:
        self._pause = FIRST_PAUSE_SECONDS
        if placed.inputs is not None:
            self._give_back(placed.inputs)
        if placed.outputs:
            for name in placed.call.out:
                result[name].flags.writeable = False  # as all results
        else:
            self.learn(placed, result)

    def learn(self, placed: Placed, result: Result) -> None:
        """What the outputs of such calls are."""
        if placed.kind is None or placed.kind in self._kinds:
            return
        outputs = {name: (array.dtype, array.shape) for name, array in result.items() if array.nbytes >= LARGE_BYTES}
        with self._lock:
            if len(self._kinds) >= MAX_KINDS:
                self._kinds.clear()
            self._kinds[placed.kind] = outputs

    def note_failure(self, placed: Placed) -> None:
        """The server may not be done with the regions, so nothing is put there again."""
        with self._lock:
            self._kinds.pop(placed.kind, None)
        for region in (placed.inputs, *placed.outputs):
            if region is not None:
                self._drop(region)

    def note_refusal(self) -> None:
        """A call went by bytes that did not go by memory."""
        with self._lock:
            self._socket = ""
            self._off_until = time.monotonic() + self._pause
            self._pause = min(2 * self._pause, LONGEST_PAUSE_SECONDS)

    def close(self) -> None:
        """Regions that results look into stay as long as these."""
        with self._lock:
            self._is_closed = True
            self._collect()
            idle, self._idle = self._idle, []
        for each in idle:
            each.region.close()

    def _lease(self, sizes: List[int]) -> Optional[List[SharedMemory]]:
        leased: List[SharedMemory] = []
        for size in sizes:
            region = self._lease_one(_size_class(size))
            if region is None:
                for other in leased:
                    self._give_back(other)
                return None
            leased.append(region)
        return leased

    def _lease_one(self, size: int) -> Optional[SharedMemory]:
        with self._lock:
            if self._is_closed or time.monotonic() < self._off_until:
                return None
            self._collect()
            fitting = [each for each in self._idle if each.region.size_bytes == size]
            if fitting:
                self._idle.remove(fitting[-1])
                return fitting[-1].region
            old, self._idle = self._idle, []
            for each in old:
                if time.monotonic() - each.since < IDLE_SECONDS and self._held_bytes + size <= self._limit_bytes:
                    self._idle.append(each)
                else:
                    self._held_bytes -= each.region.size_bytes
                    each.region.close()
            if self._held_bytes + size > self._limit_bytes:
                return None
            self._held_bytes += size
        try:
            self._socket = self._socket or self._socket_of_server()
            return self.regions.allocate(self._socket, size, PATIENCE_SECONDS)
        except (OpserveError, OSError):
            with self._lock:
                self._held_bytes -= size
            self.note_refusal()
            return None

    def _give_back(self, region: SharedMemory) -> None:
        if region.process != os.getpid():
            return  # the parent's
        if self._is_closed:
            region.close()
        else:
            self._returned.append(region)

    def _collect(self) -> None:
        """Makes what was given back idle, unless it was dropped."""
        while self._returned:
            region = self._returned.popleft()
            if not region.is_closed:
                self._idle.append(_Idle(region, time.monotonic()))

    def _drop(self, region: SharedMemory) -> None:
        with self._lock:
            self._held_bytes -= region.size_bytes
        region.close()


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _size_class(size: int) -> int:
    """At most an eighth, or a page, more: regions are used again by calls of about that size."""
    step = 1 << max(size.bit_length() - 4, 12)
    return -(-size // step) * step


def _view(root: Array, start: int, dtype: "np.dtype[Any]", shape: Tuple[int, ...]) -> Array:
    size = int(np.prod(shape)) * dtype.itemsize
    return root[start:start + size].view(dtype).reshape(shape)


def _kind(call: Call, arrays: Dict[str, Array]) -> Any:
    """What decides about the outputs of an operator's call; None where that cannot be told in short, or `out` says it."""
    if call.out or not isinstance(call.op, str):
        return None
    inputs = tuple((name, array.dtype.str, array.shape) for name, array in arrays.items())
    return call.op, call.device, inputs, tuple(attribute.SerializeToString() for attribute in attributes_of(call))
