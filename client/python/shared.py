"""Computes a gradient on tensors that an opserve server on this host shares: nothing of them is sent.

Usage: shared.py [TARGET]     (default localhost:8500; the server needs --allow-shared-memory)

As gradient.py, and with Python 3.9 or newer on Linux. Copy Region and execute_shared().
"""

import mmap
import os
import socket
import sys

import grpc
import numpy as np

from gradient import DTYPES, attribute_of, explain
from opserve.v1 import operator_service_pb2 as api
from opserve.v1 import operator_service_pb2_grpc as api_grpc
from opserve.v1 import shared_memory_pb2 as shared


class Region:
    """Memory that the server at a socket (GetServerInfo.shared_memory_socket) shares, until close() or its end."""

    def __init__(self, path, size):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.connect(path)
        self._socket.send(shared.SharedMemoryRequest(allocate={"size_bytes": size}).SerializeToString())
        answer, files, _, _ = socket.recv_fds(self._socket, 8192, 1)
        response = shared.SharedMemoryResponse.FromString(answer)
        if response.HasField("error"):
            raise MemoryError(response.error.message)
        self.id = response.region.id
        self._memory = mmap.mmap(files[0], size)
        os.close(files[0])

    def array(self, dtype, shape, offset):
        """The elements from byte `offset` on, as an array that is the memory itself."""
        return np.ndarray(shape, dtype, self._memory, offset)

    def view_of(self, array):
        """Where an array of array() is, as a SharedView."""
        start = np.frombuffer(self._memory, np.uint8).ctypes.data
        return {"region": self.id, "offset_bytes": array.ctypes.data - start, "size_bytes": array.nbytes}

    def close(self):
        self._socket.close()


def execute_shared(channel, region, operator, inputs, attributes, outputs, timeout=5):
    """Runs an operator on arrays of a region, by name; it writes to those of `outputs`. Raises grpc.RpcError."""
    request = api.ExecuteRequest()
    request.call.op = operator
    for tensors, arrays in ((request.call.inputs, inputs), (request.call.outputs, outputs)):
        for name, array in arrays.items():
            dtype = DTYPES[f"{array.dtype.kind}{array.dtype.itemsize}"]
            tensors.add(name=name, dtype=dtype, shape=array.shape, shared=region.view_of(array))
    for name, value in attributes.items():
        request.call.attributes.append(attribute_of(name, value))
    api_grpc.OperatorServiceStub(channel).Execute(request, timeout=timeout)


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else "localhost:8500"
    with grpc.insecure_channel(target) as channel:
        try:
            info = api_grpc.OperatorServiceStub(channel).GetServerInfo(api.GetServerInfoRequest(), timeout=5)
            if not info.shared_memory_socket:
                sys.exit(f"{target} allows no shared memory: start it with --allow-shared-memory unix:PATH")
            region = Region(info.shared_memory_socket, 4 * 4096)
            grad_out, self, target, grad_input = (region.array(np.float32, (4, 2), i * 4096) for i in range(4))
            grad_out[:] = target[:] = 1
            self[:] = np.arange(8).reshape(4, 2)
            execute_shared(channel, region, "SmoothL1LossBackward", {"grad_out": grad_out, "self": self, "target": target},
                           {"reduction": 0, "beta": 1.0}, {"grad_input": grad_input})
        except grpc.RpcError as error:
            sys.exit(explain(error))
    print("grad_input", *(f"{element:g}" for element in grad_input.flat))
    region.close()


if __name__ == "__main__":
    main()
