"""What users give as tensors, as the bytes that are sent."""

from __future__ import annotations

import sys
from typing import Any, Dict, Iterable, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ._dtypes import BFLOAT16, data_type_of, dtype_named, is_floating

Array = np.ndarray[Any, np.dtype[Any]]


class Sent(NamedTuple):
    """A tensor as it is sent: without strides it is dense."""

    data_type: int
    shape: Tuple[int, ...]
    strides: Optional[Tuple[int, ...]]
    data: memoryview


def as_array(value: Any) -> Array:
    """Any array as NumPy's, without a copy where that can be: an array of NumPy or of the array API (DLPack), a tensor of PyTorch
    on the CPU, what has a buffer or __array__, nested lists, a number."""
    if isinstance(value, np.ndarray):
        return np.asarray(value)  # np.matrix has two dimensions always
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, getattr(torch, "Tensor", ())):
        return _of_torch(torch, value)
    if isinstance(value, (bool, int, float, list, tuple, np.generic)) or hasattr(value, "__array__"):
        return np.asarray(value)
    if hasattr(value, "__dlpack__"):
        from_dlpack: Any = getattr(np, "from_dlpack", None) or getattr(np, "_from_dlpack")  # NumPy 1.22 had the latter
        return from_dlpack(value)  # type: ignore[no-any-return]
    try:
        return np.asarray(memoryview(value))
    except TypeError:
        raise TypeError(f"want an array, a tensor, a buffer or a number, got {type(value).__name__}") from None


def _of_torch(torch: Any, tensor: Any) -> Array:
    if tensor.device.type != "cpu":
        raise TypeError(f"want a tensor on the CPU, got one on {tensor.device}: call .cpu() first")
    tensor = tensor.detach().resolve_neg()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(BFLOAT16)  # type: ignore[no-any-return]
    return tensor.numpy()  # type: ignore[no-any-return]


def is_weak(value: Any) -> bool:
    """A number, or numbers in lists, which takes the dtype of the arrays beside it. Whole numbers in lists are labels and
    lengths: they stay."""
    if isinstance(value, (list, tuple)):
        return np.asarray(value).dtype.kind == "f" and not any(isinstance(item, np.ndarray) for item in value)
    return isinstance(value, (int, float)) and not isinstance(value, (bool, np.generic))


def as_arrays(inputs: Mapping[str, Any]) -> Dict[str, Array]:
    """Inputs by name as arrays: a number gets the dtype that the floating arrays promote to, float32 where there is none. One that
    is None is left out."""
    arrays: Dict[str, Optional[Array]] = {}
    for name, value in inputs.items():
        if value is not None:
            try:
                arrays[name] = None if is_weak(value) else as_array(value)
            except (TypeError, ValueError, BufferError, RuntimeError) as error:
                raise TypeError(f"{name}: {error}") from error
    if all(array is not None for array in arrays.values()):
        return arrays  # type: ignore[return-value]
    dtype = floating_dtype(array.dtype for array in arrays.values() if array is not None)
    return {name: np.asarray(inputs[name], dtype) if array is None else array for name, array in arrays.items()}


def floating_dtype(all_dtypes: Iterable["np.dtype[Any]"]) -> "np.dtype[Any]":
    """What the floating ones among dtypes promote to, for the numbers beside them."""
    dtypes = [dtype for dtype in all_dtypes if is_floating(dtype)]
    if not dtypes:
        return np.dtype("<f4")
    if all(dtype == dtypes[0] for dtype in dtypes):
        return np.dtype("<f4") if dtypes[0] == np.dtype("V2") else dtypes[0]
    return np.dtype("<f8" if np.dtype("f8") in dtypes else "<f4")


def sent(array: Array) -> Sent:
    """An array's bytes. A view is sent as its strides where that takes no more bytes than its elements would."""
    data_type = data_type_of(array.dtype)
    array = array.astype(little_endian(array.dtype), copy=False)
    if array.flags.c_contiguous:
        return Sent(data_type, array.shape, None, bytes_of(array.reshape(-1)))
    item = array.dtype.itemsize
    if all(step >= 0 and step % item == 0 for step in array.strides):
        strides = tuple(step // item for step in array.strides)
        span = 1 + sum((extent - 1) * step for extent, step in zip(array.shape, strides))
        if span <= array.size:
            return Sent(data_type, array.shape, strides, bytes_of(as_strided(array, (span,), (item,), writeable=False)))
    return Sent(data_type, array.shape, None, bytes_of(np.ascontiguousarray(array).reshape(-1)))


def little_endian(dtype: "np.dtype[Any]") -> "np.dtype[Any]":
    """The dtype with the protocol's order of bytes."""
    is_other = dtype.byteorder == ">" or (dtype.byteorder == "=" and sys.byteorder == "big")
    return dtype.newbyteorder("<") if is_other else dtype


def bytes_of(row: Array) -> memoryview:
    """The bytes of a dense array of one dimension, of any dtype; its own, not a copy."""
    data: Any = row.view(np.uint8)
    return memoryview(data)


class Spec(NamedTuple):
    """A tensor without elements, for `plan`."""

    shape: Tuple[int, ...]
    dtype: Any = np.float32


Input = Union[Array, Any]


def converted(array: Array, dtype: "np.dtype[Any]") -> Array:
    """An array of that dtype. NumPy alone would put the first bytes of each element into bfloat16's two raw bytes."""
    if dtype != np.dtype("V2") or array.dtype == dtype:
        return array.astype(dtype, copy=False)
    bits = np.ascontiguousarray(array, "<f4").view("<u4")
    to_nearest_even = bits + (0x7FFF + (bits >> 16 & 1))  # a NaN could overflow
    upper = np.where(np.isnan(bits.view("<f4")), bits | 0x400000, to_nearest_even) >> 16
    return upper.astype("<u2").view(dtype).reshape(array.shape)


def array_for_tensor(value: Any, dtype: Any) -> Array:
    """The array that a session's tensor() makes of its arguments."""
    array = as_array(value)
    if dtype is not None:
        return converted(array, dtype_named(dtype))
    is_written = isinstance(value, (float, list, tuple))
    return array.astype(np.float32) if is_written and not isinstance(value, np.generic) and array.dtype == np.float64 else array


def arrays_beside(tensors: Mapping[str, Any], inputs: Mapping[str, Any]) -> Dict[str, Array]:
    """The inputs that are no tensors, as arrays. Numbers take the dtype of the tensors, too: an empty array stands for each."""
    stand_ins = {name: np.empty(0, tensor.dtype) for name, tensor in tensors.items()}
    arrays = as_arrays({**stand_ins, **{name: value for name, value in inputs.items() if name not in tensors}})
    return {name: array for name, array in arrays.items() if name not in tensors}
