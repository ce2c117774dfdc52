"""Our own reading and writing of messages, beside protobuf's."""

import random
import tracemalloc

import numpy as np
import pytest

from opserve import Call, InternalError
from opserve import _repeated, _requests
from opserve._dtypes import BFLOAT16, data_type_of
from opserve._proto import operator_service_pb2 as api
from opserve._wire import RAW_TAG, joined, taken_apart, varint

SEED = 20240229


def nowhere(_):
    return None


def calls():
    draw = np.random.default_rng(SEED)
    yield Call("Relu", {"self": np.float32(1)})
    yield Call("L1Loss", {"self": draw.normal(size=(0, 3)), "target": np.zeros((0, 3))}, {"reduction": "none"})
    yield Call("SmoothL1Loss", {"self": draw.normal(size=(30, 50)).astype("f4").T, "target": 2.0}, {"beta": -1.5, "reduction": 2},
               {}, "cpu:0", True)
    yield Call("GroupNormBackward", {"input": np.ones((2, 40000), "f2")},
               {"N": 2**40, "output_mask": [True, False, True], "sizes": [1, 2], "none": [], "scales": [0.5, 1]},
               {"grad_input": np.empty((2, 40000), "f4"), "scalar": np.empty((), "f4")})


def test_an_execute_request_has_protobufs_bytes():
    for call in calls():
        message = _requests.execute(call, nowhere).message
        request = api.ExecuteRequest.FromString(message)
        assert request.SerializeToString(deterministic=True) == message
        assert request.call.op == call.op and len(request.raw) == len(call.inputs)
        assert [bytes(entry) for entry in taken_apart(message).raw] == list(request.raw)


def test_calls_that_are_almost_alike_keep_their_differences():
    """Calls are remembered by what they are made of."""
    variants = [{"beta": value} for value in (1, 1.0, True, "1", 0.0, -0.0, 0, False)]
    for _ in range(2):
        messages = [_requests.execute(Call("Relu", {"self": np.float32(1)}, attributes), nowhere).message for attributes in variants]
        assert len(set(messages)) == len(variants)
        for message, attributes in zip(messages, variants):
            (attribute,) = api.ExecuteRequest.FromString(message).call.attributes
            assert repr(getattr(attribute, attribute.WhichOneof("value"))) == repr(attributes["beta"])
    shapes = [(2, 3), (3, 2), (6,), (1, 6)]
    made = {_requests.execute(Call("Relu", {"self": np.zeros(shape, kind)}), nowhere).message for shape in shapes for kind in ("f4", "i4")}
    assert len(made) == 8


def test_no_more_calls_are_remembered_than_is_bounded():
    for number in range(2 * _repeated.MAX_FORMS):
        _requests.execute(Call("Relu", {"self": np.float32(1)}, {"beta": number}), nowhere)
        assert len(_repeated._forms) <= _repeated.MAX_FORMS


def kinds_of_inputs():
    return {
        "arrays": lambda draw: {"self": draw.normal(size=(3, 5)), "target": draw.normal(size=()).astype("f4")},
        "numbers": lambda draw: {"grad_out": float(draw.normal()), "self": draw.normal(size=(2, 3)).astype("f2"), "target": int(draw.integers(9))},
        "numbers alone": lambda draw: {"self": float(draw.normal()), "target": int(draw.integers(9))},
        "left out": lambda draw: {"self": draw.normal(size=4), "weight": None},
        "empty": lambda draw: {"self": np.zeros((0, 3)), "target": draw.normal(size=(0, 3))},
        "whole numbers": lambda draw: {"self": draw.integers(9, size=7), "mask": draw.integers(2, size=7) > 0},
        "lists": lambda draw: {"self": list(draw.normal(size=3)), "target": draw.normal(size=3).astype("f4")},
        "of NumPy": lambda draw: {"self": np.float32(draw.normal()), "target": np.float64(draw.normal())},
        "views": lambda draw: {"self": draw.normal(size=(4, 5)).T, "target": draw.normal(size=(5, 8))[:, ::2]},
        "swapped": lambda draw: {"self": draw.normal(size=5).astype(">f4")},
        "bfloat16": lambda draw: {"self": draw.normal(size=5).astype("f4").astype(BFLOAT16), "target": 1.5}}


@pytest.mark.parametrize("kind", kinds_of_inputs())
def test_a_call_made_again_differs_in_its_numbers_alone(kind):
    if kind == "bfloat16" and BFLOAT16 == np.dtype("V2"):
        pytest.skip("ml_dtypes is not installed")
    draw = np.random.default_rng(SEED)
    for _ in range(4):
        call = Call("Relu", kinds_of_inputs()[kind](draw), {"beta": 0.5})
        again = _requests.execute(call, nowhere).message
        _repeated._forms.clear()
        assert _requests.execute(call, nowhere).message == again
    assert len(_repeated._forms) == (kind not in ("views", "swapped"))


def answer_of(*arrays, names="abc", raw_indices=range(9)):
    raw = [array.tobytes() for array in arrays]
    outputs = [{"name": name, "dtype": data_type_of(array.dtype), "shape": array.shape, "raw_index": index}
               for name, array, index in zip(names, arrays, raw_indices)]
    return api.ExecuteResponse(outputs=outputs, raw=[raw[index] for index, _ in zip(raw_indices, arrays)]).SerializeToString()


def test_answers_that_are_like_the_last_one_and_others():
    draw = np.random.default_rng(SEED)
    normal = lambda *shape: draw.normal(size=shape).astype("f4")
    _repeated._forms.clear()
    seen = 0
    for names, arrays, raw_indices in [
            ("ab", (normal(2, 3), normal()), (0, 1)), ("ab", (normal(2, 3), normal()), (0, 1)), ("ac", (normal(2, 3), normal()), (0, 1)),
            ("ac", (normal(3, 2), normal()), (0, 1)), ("ab", (normal(2), normal(2)), (1, 0)), ("ab", (normal(2), normal(2)), (1, 0)),
            ("ab", (normal(2), normal(2)), (0, 1)), ("ab", (normal(2), normal(2)), (0, 1)), ("ab", (normal(0), normal(2)), (0, 1)),
            ("ab", (normal(0), normal(2)), (0, 1)), ("a", (normal(300),), (0,)), ("a", (normal(300),), (0,))]:
        read = _requests.execute(Call("Relu", {"self": normal(2)}), nowhere).read
        answer = answer_of(*arrays, names=names, raw_indices=raw_indices)
        (form,) = _repeated._forms.values()
        seen += form.arrays(answer) is not None
        result = read(answer)
        assert list(result) == list(names)
        for name, array in zip(names, arrays):
            assert result[name].dtype == array.dtype and result[name].shape == array.shape
            assert not array.size or not result[name].flags.writeable
            np.testing.assert_array_equal(result[name], array)
    assert seen == 3


def test_a_batch_has_protobufs_bytes():
    message = _requests.execute_batch(list(calls()), nowhere).message
    request = api.ExecuteBatchRequest.FromString(message)
    assert request.SerializeToString(deterministic=True) == message
    assert [call.op for call in request.calls] == [call.op for call in calls()]


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 2**31, 2**63])
def test_varints(number):
    request = api.GetServerInfoResponse(max_values_bytes=number) if number < 2**63 else None
    encoded = varint(number)
    assert taken_apart(b"\x08" + encoded).header == b"\x08" + encoded
    if request is not None and number:
        assert request.SerializeToString().endswith(encoded)


def test_fields_in_any_order():
    response = api.ExecuteResponse(outputs=[{"name": "a", "raw_index": 1}], raw=[b"xy", b"z" * 300])
    response.execution.device = "cpu:0"
    raw = joined([], response.raw)
    rest = api.ExecuteResponse(outputs=response.outputs, execution=response.execution).SerializeToString()
    for message in (response.SerializeToString(), raw + rest, rest + raw):
        parts = taken_apart(message)
        assert [bytes(entry) for entry in parts.raw] == [b"xy", b"z" * 300]
        assert api.ExecuteResponse.FromString(parts.header).outputs == response.outputs


def test_many_small_fields_take_little_memory():
    message = b"\x08\x01" * 50000 + RAW_TAG + varint(2) + b"ab" + b"\x10\x01" * 50000
    tracemalloc.start()
    parts = taken_apart(message)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert parts.header == b"\x08\x01" * 50000 + b"\x10\x01" * 50000 and parts.raw == [b"ab"]
    assert peak < 2 * len(message)


def test_bytes_that_are_no_message_are_an_error_and_nothing_else():
    """Every cut of a message, and mutations of it."""
    message = _requests.execute(list(calls())[2], nowhere).message[:300]
    draw = random.Random(SEED)
    refused = 0
    for _ in range(3000):
        mutated = bytearray(message[:draw.randrange(len(message))])
        for _ in range(draw.randrange(4)):
            if mutated:
                mutated[draw.randrange(len(mutated))] = draw.randrange(256)
        try:
            parts = taken_apart(bytes(mutated))
            assert sum(map(len, parts.raw)) + len(parts.header) <= len(mutated)
        except InternalError:
            refused += 1
    assert refused > 1000


@pytest.mark.parametrize("outputs, raw", [
    ([{"name": "a", "dtype": 1, "shape": [2], "raw_index": 0}], [b"1234"]),
    ([{"name": "a", "dtype": 1, "shape": [2], "raw_index": 7}], [b"12345678"]),
    ([{"name": "a", "dtype": 1, "shape": [-2, -1], "raw_index": 0}], [b"12345678"]),
    ([{"name": "a", "dtype": 99, "shape": [2], "raw_index": 0}], [b"12345678"]),
    ([{"name": "a", "dtype": 1, "shape": [1 << 40, 1 << 40]}], []),
    ([{"name": "a", "dtype": 1, "shape": [2], "shared": {}}], [])])
def test_a_server_that_lies(outputs, raw):
    answer = api.ExecuteResponse(outputs=outputs, raw=raw).SerializeToString()
    with pytest.raises(InternalError, match="makes no sense"):
        _requests.execute(Call("Relu", {"self": 1.0}), nowhere).read(answer)


def test_no_message_at_all():
    with pytest.raises(InternalError, match="makes no sense"):
        _requests.get_server_info().read(b"\x0a\x05ab")
