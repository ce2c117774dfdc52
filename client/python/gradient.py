"""Computes a gradient on an opserve server: Python, from the .proto files alone.

Usage: gradient.py [TARGET]     (default localhost:8500)

Needs grpcio, protobuf, numpy and the stubs that protoc makes; README.md, "From any language", has the line. Copy execute()
and what it calls: it takes and returns NumPy arrays for any operator. bfloat16 is ml_dtypes.bfloat16, or plain '<V2'.
"""

import sys

import grpc
import numpy as np

from google.rpc import error_details_pb2
from google.rpc import status_pb2
from opserve.v1 import operator_service_pb2 as api
from opserve.v1 import operator_service_pb2_grpc as api_grpc
from opserve.v1 import types_pb2 as types

# NumPy's kind and item size → DataType.
DTYPES = {
    "f4": types.DATA_TYPE_FLOAT32, "f2": types.DATA_TYPE_FLOAT16, "V2": types.DATA_TYPE_BFLOAT16,
    "f8": types.DATA_TYPE_FLOAT64, "i1": types.DATA_TYPE_INT8, "i2": types.DATA_TYPE_INT16,
    "i4": types.DATA_TYPE_INT32, "i8": types.DATA_TYPE_INT64, "u1": types.DATA_TYPE_UINT8,
    "u2": types.DATA_TYPE_UINT16, "u4": types.DATA_TYPE_UINT32, "u8": types.DATA_TYPE_UINT64,
    "b1": types.DATA_TYPE_BOOL,
}
NUMPY_TYPES = {dtype: np.dtype("<" + name) for name, dtype in DTYPES.items()}
ATTRIBUTE_FIELDS = {int: "int", float: "float", bool: "bool"}
UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


def execute(channel, operator, inputs, attributes, timeout=5):
    """Runs an operator on arrays by name and attributes by name; returns its outputs by name. Raises grpc.RpcError."""
    request = api.ExecuteRequest()
    request.call.op = operator
    for name, array in inputs.items():
        dtype = DTYPES[f"{array.dtype.kind}{array.dtype.itemsize}"]
        request.call.inputs.add(name=name, dtype=dtype, shape=array.shape, raw_index=len(request.raw))
        request.raw.append(array.astype(NUMPY_TYPES[dtype], copy=False).tobytes())
    for name, value in attributes.items():
        request.call.attributes.append(attribute_of(name, value))
    response = api_grpc.OperatorServiceStub(channel).Execute(request, timeout=timeout)
    return {output.name: array_of(output, response.raw) for output in response.outputs}


def attribute_of(name, value):
    """An int, a float, a bool, or a list of one of them (which must not be empty) as an attribute."""
    if isinstance(value, list):
        return types.Attribute(name=name, **{f"{ATTRIBUTE_FIELDS[type(value[0])]}_list": {"values": value}})
    return types.Attribute(name=name, **{f"{ATTRIBUTE_FIELDS[type(value)]}_value": value})


def array_of(tensor, raw):
    """An output as an array that looks into the response's bytes. One that was masked out has no bytes."""
    data = raw[tensor.raw_index] if tensor.HasField("raw_index") else b""
    return np.frombuffer(data, NUMPY_TYPES[tensor.dtype]).reshape(tensor.shape)


def error_info(status):
    """The google.rpc.ErrorInfo among the details of a google.rpc.Status; an empty one where there is none."""
    info = error_details_pb2.ErrorInfo()
    for detail in status.details:
        if detail.Unpack(info):
            break
    return info


def explain(error):
    """One line about a failed call: the reason and the aclnn code where the server sent them, and what it said."""
    details = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin")
    if details is None:  # from gRPC itself: no server, deadline, …
        return f"{error.code().name}: {error.details()}"
    info = error_info(status_pb2.Status.FromString(details))
    return " ".join(filter(None, [info.reason, info.metadata.get("code")])) + f": {error.details()}"


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else "localhost:8500"
    ones = np.ones((4, 2), np.float32)
    inputs = {"grad_out": ones, "self": np.arange(8, dtype=np.float32).reshape(4, 2), "target": ones}
    with grpc.insecure_channel(target, UNLIMITED) as channel:
        try:
            outputs = execute(channel, "SmoothL1LossBackward", inputs, {"reduction": 0, "beta": 1.0})
        except grpc.RpcError as error:
            sys.exit(explain(error))
    for name, array in outputs.items():
        print(name, *(f"{element:g}" for element in array.flat))


if __name__ == "__main__":
    main()
