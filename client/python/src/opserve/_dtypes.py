"""NumPy's element types and the protocol's."""

from __future__ import annotations

from typing import Any, Dict, Optional

import numpy as np

from ._proto import types_pb2 as types

try:
    import ml_dtypes

    BFLOAT16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
except ImportError:
    BFLOAT16 = np.dtype("V2")  # two raw bytes, as in the .npy files of the opserve command

_NUMPY: Dict[int, np.dtype[Any]] = {
    types.DATA_TYPE_FLOAT32: np.dtype("<f4"), types.DATA_TYPE_FLOAT16: np.dtype("<f2"),
    types.DATA_TYPE_BFLOAT16: BFLOAT16, types.DATA_TYPE_FLOAT64: np.dtype("<f8"), types.DATA_TYPE_INT8: np.dtype("i1"),
    types.DATA_TYPE_INT16: np.dtype("<i2"), types.DATA_TYPE_INT32: np.dtype("<i4"), types.DATA_TYPE_INT64: np.dtype("<i8"),
    types.DATA_TYPE_UINT8: np.dtype("u1"), types.DATA_TYPE_UINT16: np.dtype("<u2"), types.DATA_TYPE_UINT32: np.dtype("<u4"),
    types.DATA_TYPE_UINT64: np.dtype("<u8"), types.DATA_TYPE_BOOL: np.dtype("?"),
}
_DATA_TYPES: Dict[str, Any] = {f"{dtype.kind}{dtype.itemsize}": data_type for data_type, dtype in _NUMPY.items()}
_BY_DTYPE: Dict[Any, Any] = {dtype: data_type for data_type, dtype in _NUMPY.items()}
_SHORT = {types.DATA_TYPE_BFLOAT16: "bf16", types.DATA_TYPE_BOOL: "b8"}
FLOATING = (types.DATA_TYPE_FLOAT32, types.DATA_TYPE_FLOAT16, types.DATA_TYPE_BFLOAT16, types.DATA_TYPE_FLOAT64)


def is_floating(dtype: np.dtype[Any]) -> bool:
    """Whether elements are floats, bfloat16 among them."""
    return dtype.kind == "f" or dtype == BFLOAT16


def data_type_of(dtype: Any) -> types.DataType:
    """The DataType of what np.dtype() takes, or of "bfloat16". TypeError for one that no server takes."""
    found: Any = dtype if isinstance(dtype, np.dtype) else dtype_named(dtype)
    known: Optional[types.DataType] = _BY_DTYPE.get(found)
    if known is None:  # of the other byte order, or of another name
        known = _DATA_TYPES.get(f"{found.kind}{found.itemsize}")
    if known is None or (found.kind == "V" and found != BFLOAT16 and found != np.dtype("V2")):
        raise TypeError(f"want a dtype that servers know ({', '.join(map(short_name, _NUMPY))}), got {found}")
    return known


def dtype_named(dtype: Any) -> np.dtype[Any]:
    """What np.dtype() makes of it; "bfloat16" and "bf16" besides."""
    return BFLOAT16 if isinstance(dtype, str) and dtype in ("bfloat16", "bf16") else np.dtype(dtype)


def numpy_dtype(data_type: int) -> np.dtype[Any]:
    """The dtype of a DataType; KeyError for one that is not known."""
    return _NUMPY[data_type]


def short_name(data_type: int) -> str:
    """ "f32", as the opserve command and the pages call it."""
    dtype = _NUMPY.get(data_type)
    if dtype is None:
        return str(data_type)
    return _SHORT.get(data_type, f"{dtype.kind}{8 * dtype.itemsize}")  # type: ignore[call-overload,no-any-return]
