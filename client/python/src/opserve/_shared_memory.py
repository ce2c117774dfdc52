"""Memory that client and server share: docs/shared_memory.md."""

from __future__ import annotations

import bisect
import fcntl
import mmap
import os
import socket
import threading
from typing import Any, Dict, List, Optional, Tuple

import grpc
import numpy as np

from ._arrays import Array, little_endian
from ._dtypes import dtype_named
from ._proto import shared_memory_pb2 as messages
from .errors import UnsupportedError, bad_answer, error_of_status

ALIGNMENT = 64
_PACKET_BYTES = 8192
_SHARED_MEMORY_DISABLED = "the server allows no shared memory: start it with --allow-shared-memory unix:PATH"


class SharedMemory:
    """A region. Its arrays are ordinary ones, zeros at first; close() it, or leave its `with` block, when no call uses them.

    A region that is closed gives its pages back: arrays that still look into it read zeros.
    """

    def __init__(self, regions: "Regions", path: str, size_bytes: int, patience: Optional[float] = None) -> None:
        self._regions = regions
        self._used = 0
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(patience)
        try:
            self._socket.connect(path)
            self.id, memory = self._allocate(size_bytes)
        except BaseException:
            self._socket.close()
            raise
        self._memory = memory
        self._bytes = self.new_root()
        self.is_closed = False
        self.process = os.getpid()
        self.size_bytes = size_bytes
        self.address: int = self._bytes.ctypes.data

    def _allocate(self, size_bytes: int) -> Tuple[bytes, mmap.mmap]:
        request = messages.SharedMemoryRequest(allocate=messages.AllocateRegionCommand(size_bytes=size_bytes))
        self._socket.send(request.SerializeToString())
        answer, files, _, _ = socket.recv_fds(self._socket, _PACKET_BYTES, 1)
        try:
            response = messages.SharedMemoryResponse.FromString(answer)
            if response.HasField("error"):
                raise error_of_status(response.error)
            if len(files) != 1 or not response.HasField("region") or not _can_be_trusted(files[0], size_bytes):
                raise bad_answer("it brings no memory that stays")
            return response.region.id, mmap.mmap(files[0], size_bytes)
        finally:
            for file in files:
                os.close(file)

    def new_root(self) -> Array:
        """All bytes, as an array that is the base of those which look into it."""
        return np.frombuffer(self._memory, np.uint8)

    def array(self, shape: "int | Tuple[int, ...]", dtype: Any = np.float32) -> Array:
        """A new array in the region, behind those that were made before; at a multiple of 64 bytes. MemoryError where it does not
        fit."""
        kind = dtype_named(dtype)
        extents = (shape,) if isinstance(shape, int) else tuple(shape)
        size = int(np.prod(extents, dtype=np.int64)) * kind.itemsize
        if min(extents, default=0) < 0 or size > self.size_bytes - self._used:
            raise MemoryError(f"want at most {self.size_bytes - self._used} bytes, what is left of the region; got {size}")
        start, self._used = self._used, min(self._used + -(-size // ALIGNMENT) * ALIGNMENT, self.size_bytes)
        return self._bytes[start:start + size].view(kind).reshape(extents)

    def close(self) -> None:
        """Releases the region."""
        self.is_closed = True
        self._regions.forget(self)
        self._socket.close()

    def __enter__(self) -> "SharedMemory":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _can_be_trusted(file: int, size_bytes: int) -> bool:
    """Whether it is memory of that size, of ordinary pages, sealed against shrinking. Of anything else a page may be gone when it is
    touched."""
    try:
        seals = fcntl.fcntl(file, fcntl.F_GET_SEALS)
    except OSError:
        return False
    ordinary = os.fstatvfs(file).f_bsize == mmap.PAGESIZE
    return seals & fcntl.F_SEAL_SHRINK != 0 and ordinary and os.fstat(file).st_size >= size_bytes


class Regions:
    """The regions of a client, by address."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a finalizer, which may run at any allocation, forgets regions, too
        self._by_address: Dict[int, SharedMemory] = {}
        self._addresses: List[int] = []

    def allocate(self, path: str, size_bytes: int, patience: Optional[float] = None) -> SharedMemory:
        """A new region from the server at that socket; OSError where it needs more than `patience` seconds for a step."""
        if not path:
            raise UnsupportedError(_SHARED_MEMORY_DISABLED, reason="SHARED_MEMORY_DISABLED",
                                   code=grpc.StatusCode.FAILED_PRECONDITION)
        region = SharedMemory(self, path, size_bytes, patience)
        with self._lock:
            self._by_address[region.address] = region
            self._addresses = sorted(self._by_address)
        return region

    def forget(self, region: SharedMemory) -> None:
        with self._lock:
            self._by_address.pop(region.address, None)
            self._addresses = sorted(self._by_address)

    def close(self) -> None:
        for region in list(self._by_address.values()):
            region.close()

    def locate(self, array: Array) -> Optional[Dict[str, Any]]:
        """Where a dense array lies, as a SharedView; None for one in no region, or whose elements are not as the server has them."""
        if not self._addresses or array.dtype != little_endian(array.dtype):
            return None
        address = array.__array_interface__["data"][0]
        with self._lock:
            place = bisect.bisect_right(self._addresses, address) - 1
            region = self._by_address[self._addresses[place]] if place >= 0 else None
        if region is None or address + array.nbytes > region.address + region.size_bytes:
            return None
        return {"region": region.id, "offset_bytes": address - region.address, "size_bytes": array.nbytes}
