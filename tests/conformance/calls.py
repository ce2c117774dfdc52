"""The calls that every language makes, and what their elements are as numbers.

Arrays are NumPy's; bfloat16 is '<V2', two raw bytes, as in the .npy files of the opserve command.
"""

import collections

import numpy as np

SEED = 20240229
BFLOAT16 = np.dtype("<V2")
FLOATS = {"f32": np.dtype("<f4"), "f16": np.dtype("<f2"), "bf16": BFLOAT16}
REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}

# inputs: name → array. attributes: name → int, float, bool or a list of them.
Call = collections.namedtuple("Call", "name operator inputs attributes")


def rounded(numbers, dtype):
    """Numbers as an array of `dtype`; those that bfloat16 does not hold are cut, not rounded."""
    if dtype != BFLOAT16:
        return np.asarray(numbers).astype(dtype)
    bits = np.asarray(numbers, "<f4").view("<u4") >> 16
    return np.ascontiguousarray(bits.astype("<u2")).view(BFLOAT16)


def numbers_of(array):
    """The elements as Python's numbers, exactly, in row-major order."""
    if array.dtype.kind == "V":
        array = (np.ascontiguousarray(array).view("<u2").astype("<u4") << 16).view("<f4")
    return array.ravel().tolist()


def sample():
    """The call of the README."""
    ones = np.ones((4, 2), "<f4")
    inputs = {"grad_out": ones, "self": np.arange(8, dtype="<f4").reshape(4, 2), "target": ones}
    return Call("sample", "SmoothL1LossBackward", inputs, {"reduction": 0, "beta": 1.0})


def loss_calls(random):
    """Each reduction in each dtype, with inputs that are broadcast together."""
    for dtype_name, dtype in FLOATS.items():
        for reduction_name, reduction in REDUCTIONS.items():
            name = f"{dtype_name} {reduction_name}"
            grad_shape = (3, 4, 5) if reduction == 0 else ()
            self = random.normal(size=(3, 1, 5))
            self.flat[:4] = [-0.0, 1e-40, -3e-6, 6e4]
            data = {"self": rounded(self, dtype), "target": rounded(random.normal(size=(4, 1)), dtype)}
            grad = rounded(random.normal(size=grad_shape), dtype)
            yield Call(f"smooth_l1 backward {name}", "SmoothL1LossBackward", {"grad_out": grad, **data},
                       {"reduction": reduction, "beta": 0.75})
            yield Call(f"l1 backward {name}", "L1LossBackward", {"grad_output": grad, **data}, {"reduction": reduction})
            yield Call(f"smooth_l1 {name}", "SmoothL1Loss", data, {"reduction": reduction, "beta": 0.75})


def other_calls(random):
    """Integers beside a float, infinities, a list as attribute with a masked output, a tensor without elements."""
    integers = np.arange(-6, 6, dtype="<i4").reshape(3, 4)
    yield Call("integers", "L1Loss", {"self": integers, "target": rounded(random.normal(size=4), FLOATS["f32"])},
               {"reduction": 1})
    yield Call("infinities", "Hardshrink", {"self": rounded([np.inf, -np.inf, 0.5, -0.25, 65504], FLOATS["f16"])},
               {"lambd": 0.5})
    floats = FLOATS["f32"]
    data = {name: rounded(random.normal(size=(2, 6, 7)), floats) for name in ("grad_out", "input")}
    statistics = {name: rounded(random.uniform(0.5, 2, size=(2, 3)), floats) for name in ("mean", "rstd")}
    yield Call("mask", "GroupNormBackward", {**data, **statistics, "gamma": rounded(random.normal(size=6), floats)},
               {"N": 2, "C": 6, "HxW": 7, "group": 3, "output_mask": [True, False, True]})
    yield Call("empty", "L1Loss", {name: np.zeros((0, 3), floats) for name in ("self", "target")}, {"reduction": 0})


def all_calls():
    random = np.random.default_rng(SEED)
    return [sample(), *loss_calls(random), *other_calls(random)]
