"""What users give as tensors."""

import array
import struct

import numpy as np
import pytest

from opserve import Call, _requests
from opserve._arrays import as_array, as_arrays, bytes_of, converted, sent
from opserve._dtypes import BFLOAT16, data_type_of
from opserve._proto import types_pb2 as types

MATRIX = np.arange(12, dtype=np.float32).reshape(3, 4)


def elements(tensor):
    """The elements that a server would see, in order."""
    dtype = {types.DATA_TYPE_FLOAT32: "<f4", types.DATA_TYPE_INT32: "<i4"}[tensor.data_type]
    storage = np.frombuffer(tensor.data, dtype)
    if tensor.strides is None:
        return storage.reshape(tensor.shape)
    index = sum(np.arange(extent).reshape([-1] + [1] * (len(tensor.shape) - axis - 1)) * step
                for axis, (extent, step) in enumerate(zip(tensor.shape, tensor.strides)))
    return storage[index]


@pytest.mark.parametrize("view, bytes_sent", [
    (MATRIX, 48), (MATRIX.T, 48), (np.broadcast_to(MATRIX[0], (5, 4)), 16), (MATRIX[:, ::-1], 48), (MATRIX[::2], 32),
    (MATRIX[:, 1:3], 24), (MATRIX.astype(">f4"), 48), (np.float32(3), 4), (MATRIX[:0], 0),
    (np.broadcast_to(np.float32(2), (3, 4)), 4)])
def test_views_are_sent_as_strides_where_that_is_no_more(view, bytes_sent):
    tensor = sent(np.asarray(view))
    assert len(tensor.data) == bytes_sent
    np.testing.assert_array_equal(elements(tensor), view)


def test_a_dense_array_is_not_copied():
    tensor = sent(MATRIX)
    assert np.shares_memory(np.frombuffer(tensor.data, np.float32), MATRIX)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_matrix_is_sent_as_an_array():
    message = _requests.execute(Call("Relu", {"self": np.matrix(MATRIX)}), lambda _: None).message
    assert message == _requests.execute(Call("Relu", {"self": MATRIX}), lambda _: None).message


@pytest.mark.parametrize("value", [
    [[0, 1, 2, 3]], array.array("f", [0, 1, 2, 3]), memoryview(MATRIX[0]), np.arange(4, dtype=np.float32)])
def test_what_counts_as_an_array(value):
    np.testing.assert_array_equal(np.ravel(as_array(value)), [0, 1, 2, 3])


class OnlyDlpack:
    """An array of a library that has nothing but the array API's door."""

    def __dlpack__(self, **options):
        return MATRIX.__dlpack__(**options)

    def __dlpack_device__(self):
        return MATRIX.__dlpack_device__()


def test_dlpack_is_taken_without_a_copy():
    assert np.shares_memory(as_array(OnlyDlpack()), MATRIX)


def test_what_is_no_array_is_named():
    with pytest.raises(TypeError, match="self: want an array.*got object"):
        as_arrays({"self": object()})
    with pytest.raises(TypeError, match="complex64"):
        data_type_of(np.complex64)


@pytest.mark.parametrize("beside, dtype", [
    ("f4", "f4"), ("f2", "f2"), ("f8", "f8"), ("i8", "f4")])
def test_numbers_take_the_dtype_beside_them(beside, dtype):
    arrays = as_arrays({"a": 1, "b": 2.5, "c": np.ones(2, beside), "d": [0.5]})
    assert {name: arrays[name].dtype for name in "abd"} == {name: np.dtype(dtype) for name in "abd"}
    assert arrays["a"].shape == () and arrays["d"].shape == (1,)


def test_labels_in_lists_stay_whole():
    assert as_arrays({"targets": [[1, 2]], "self": MATRIX})["targets"].dtype.kind == "i"


def test_none_is_left_out():
    assert set(as_arrays({"self": MATRIX, "weight": None})) == {"self"}


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    tensor = sent(np.array([1, -2], ml_dtypes.bfloat16))
    assert (tensor.data_type, bytes(tensor.data)) == (types.DATA_TYPE_BFLOAT16, struct.pack("<HH", 0x3F80, 0xC000))
    assert as_arrays({"a": 1.0, "b": np.ones(1, BFLOAT16)})["a"].dtype == BFLOAT16


@pytest.mark.parametrize("dtype", ["f2", "<f4", ">f4", "f8", "i4"])
def test_bfloat16_of_numbers_without_ml_dtypes(dtype):
    numbers = np.array([[1, -2], [0, 259]], dtype)  # 259 is between 258 and 260, of which the latter is even
    assert bytes_of(converted(numbers, np.dtype("V2")).reshape(-1)).tobytes() == struct.pack("<HHHH", 0x3F80, 0xC000, 0, 0x4382)
    assert converted(numbers, np.dtype("V2")).shape == (2, 2)


def test_what_bfloat16_without_ml_dtypes_rounds():
    bits = np.array([0x3F808000, 0x3F818000, 0x3F808001, 0x7F7FFFFF, 0x7F800001, 0xFFFFFFFF, 0x80000001, 0xFF800000], "<u4")
    rounded = converted(bits.view("<f4"), np.dtype("V2")).view("<u2").tolist()
    assert rounded == [0x3F80, 0x3F82, 0x3F81, 0x7F80, 0x7FC0, 0xFFFF, 0x8000, 0xFF80]
    assert converted(np.float32(1).reshape(()), np.dtype("V2")).shape == ()
    assert converted(converted(bits.view("<f4"), np.dtype("V2")), np.dtype("V2")).view("<u2").tolist() == rounded


def test_torch_tensors_are_not_copied():
    torch = pytest.importorskip("torch")
    tensor = torch.arange(6, dtype=torch.float32, requires_grad=True).reshape(2, 3)
    assert as_array(tensor).ctypes.data == tensor.data_ptr()
    half = torch.tensor([1.0, -2.0], dtype=torch.bfloat16)
    assert sent(as_array(half)).data_type == types.DATA_TYPE_BFLOAT16
    assert bytes(sent(as_array(half)).data) == struct.pack("<HH", 0x3F80, 0xC000)
