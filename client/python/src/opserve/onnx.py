"""ONNX models as programs: inference graphs of the operators that servers have. Needs the package onnx (opserve[onnx]).

    net = opserve.onnx.load("classifier.onnx", shapes={"images": (32, 3, 64, 64)})
    scores = client.execute(net.program, {"images": images, **net.weights})["scores"]

The weights are inputs of the program, so that their gradients can be asked for: add a loss to net.program and call its gradient().
"""

from __future__ import annotations

import math
import os
import re
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.shape_inference

from ._program import Program, Value

Dim = Optional[int]  # None: not known before the call

# Larger constants are inputs of the program, beside the weights, rather than part of its message.
_MOST_CONSTANT_ELEMENTS = 1024


class Imported(NamedTuple):
    """A program made of a model. Names that programs do not take ("conv1.weight", "/relu/out") have _ in the place of . and /."""

    program: Program
    inputs: Tuple[str, ...]  # those without weights, in the model's order
    weights: Dict[str, "np.ndarray[Any, Any]"]
    outputs: Tuple[str, ...]


def load(model: "Union[str, os.PathLike[str], onnx.ModelProto]", *, shapes: Optional[Mapping[str, Sequence[int]]] = None) -> Imported:
    """The program of a model: a file, or a ModelProto. Operators: opserve.onnx.OPERATORS.

    shapes  of inputs by the model's names, where the model leaves an extent open and an operator needs it
    Raises NotImplementedError naming the node for what servers do not have, ValueError for a model that ONNX's own checks refuse.
    """
    proto = onnx.load(os.fspath(model)) if isinstance(model, (str, os.PathLike)) else model
    try:
        onnx.checker.check_model(proto)
        proto = _with_shapes(proto, shapes or {})
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise ValueError(f"model: {error}") from error
    return _Importer(proto).run()


def _with_shapes(proto: Any, shapes: Mapping[str, Sequence[int]]) -> Any:
    fixed = onnx.ModelProto()
    fixed.CopyFrom(proto)
    known = {value.name: value for value in fixed.graph.input}
    for name, shape in shapes.items():
        if name not in known:
            raise ValueError(f"shapes: want names of inputs ({', '.join(known)}), got {name}")
        dims = known[name].type.tensor_type.shape.dim
        if len(dims) != len(shape):
            raise ValueError(f"shapes: {name}: want {len(dims)} extents, got {len(shape)}")
        for dim, extent in zip(dims, shape):
            if dim.HasField("dim_value") and dim.dim_value != extent:
                raise ValueError(f"shapes: {name}: want {dim.dim_value} as in the model, got {extent}")
            dim.dim_value = extent
    return onnx.shape_inference.infer_shapes(fixed, strict_mode=True, data_prop=True)


class _Node:
    """A node while its step is made: attributes, and inputs as values of the program, constants or shapes."""

    def __init__(self, importer: "_Importer", proto: Any) -> None:
        self._importer = importer
        self._proto = proto
        self.op: str = proto.op_type
        self.opset = importer.opset
        self._attributes = {each.name: onnx.helper.get_attribute_value(each) for each in proto.attribute}

    def attribute(self, name: str, default: Any = None) -> Any:
        value = self._attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def has(self, index: int) -> bool:
        return index < len(self._proto.input) and bool(self._proto.input[index])

    def value(self, index: int = 0) -> Value:
        if not self.has(index):
            raise self.refusal(f"want input {index}, got none")
        return self._importer.value(self._proto.input[index])

    def optional(self, index: int) -> Optional[Value]:
        return self.value(index) if self.has(index) else None

    def shape(self, index: int = 0) -> List[int]:
        """Raises where an extent is not known."""
        shape = self._importer.shapes.get(self._proto.input[index])
        if shape is None or None in shape:
            raise self.refusal(f"want the shape of {self._proto.input[index]}, which the model leaves open: name the inputs' in shapes=")
        return [int(extent) for extent in shape if extent is not None]

    def output_shape(self) -> List[int]:
        """At most one extent is -1."""
        shape = self._importer.shapes.get(self._proto.output[0])
        if shape is None or shape.count(None) > 1:
            raise self.refusal("want the shape of the output, which the model leaves open: name the inputs' in shapes=")
        return [-1 if extent is None else extent for extent in shape]

    def constant(self, index: int) -> "Optional[np.ndarray[Any, Any]]":
        """None where there is no such input."""
        if not self.has(index):
            return None
        known: "Optional[np.ndarray[Any, Any]]" = self._importer.constants.get(self._proto.input[index])
        if known is None:
            raise self.refusal(f"want {self._proto.input[index]} to be a constant of the model, got what it computes")
        return known

    def call(self, op: str, inputs: Mapping[str, Any], **attributes: Any) -> Value:
        return self._importer.program.call(op, inputs, attributes)

    def refuse_unless(self, holds: bool, want: str) -> None:
        if not holds:
            raise self.refusal(f"want {want}")

    def refusal(self, words: str) -> NotImplementedError:
        return NotImplementedError(f"node {self._proto.name or self._proto.output[0]} ({self.op}): {words}")


class _Importer:
    def __init__(self, model: Any) -> None:
        self.program = Program()
        self.opset = max((each.version for each in model.opset_import if each.domain in ("", "ai.onnx")), default=1)
        self.constants = {each.name: onnx.numpy_helper.to_array(each) for each in model.graph.initializer}
        self.shapes: Dict[str, List[Dim]] = {name: list(array.shape) for name, array in self.constants.items()}
        self._graph = model.graph
        self._values: Dict[str, Value] = {}
        self._weights: Dict[str, "np.ndarray[Any, Any]"] = {}
        self._initializers = set(self.constants)
        self._taken: Dict[str, str] = {}
        for value in (*model.graph.input, *model.graph.value_info, *model.graph.output):
            tensor = value.type.tensor_type
            if tensor.HasField("shape"):
                self.shapes[value.name] = [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim]

    def run(self) -> Imported:
        inputs = [value.name for value in self._graph.input if value.name not in self.constants]
        for name in inputs:
            self._values[name] = self.program.input(self._name_for(name))
        for proto in self._graph.node:
            self._add(proto)
        for output in self._graph.output:
            self.program.output(**{self._output_name(output.name): self.value(output.name)})
        return Imported(self.program, tuple(self._taken[name] for name in inputs), self._weights,
                        tuple(self._output_name(output.name) for output in self._graph.output))

    def value(self, name: str) -> Value:
        known = self._values.get(name)
        if known is None:
            # Of a checked model all that is no constant was made before.
            array = self.constants[name]
            known = self._values[name] = self.program.input(self._name_for(name))
            self._weights[self._taken[name]] = array
        return known

    def operand(self, name: str) -> Any:
        """As value, but a small constant that is no weight becomes part of the program."""
        array = self.constants.get(name)
        is_small = array is not None and array.size <= _MOST_CONSTANT_ELEMENTS
        return array if is_small and name not in self._initializers and name not in self._values else self.value(name)

    def _add(self, proto: Any) -> None:
        node = _Node(self, proto)
        if proto.domain not in ("", "ai.onnx") or proto.op_type not in _MAKERS:
            raise node.refusal(f"want one of {', '.join(OPERATORS)}")
        if proto.op_type == "Constant":
            self._add_constant(node, proto.output[0])
            return
        made = _MAKERS[proto.op_type](node)
        values = made if isinstance(made, tuple) else (made,)
        beyond = [name for name in proto.output[len(values):] if name and self._is_read(name)]
        node.refuse_unless(not beyond, f"a node of which no output beyond the first {len(values)} is used, got {', '.join(beyond)}")
        self._values.update(zip(proto.output, values))

    def _add_constant(self, node: _Node, name: str) -> None:
        for kind, dtype in (("value_float", np.float32), ("value_floats", np.float32), ("value_int", np.int64),
                            ("value_ints", np.int64)):
            if node.attribute(kind) is not None:
                self.constants[name] = np.asarray(node.attribute(kind), dtype)
        if node.attribute("value") is not None:
            self.constants[name] = onnx.numpy_helper.to_array(node.attribute("value"))
        node.refuse_unless(name in self.constants, "a tensor, floats or ints")
        self.shapes[name] = list(self.constants[name].shape)

    def _is_read(self, name: str) -> bool:
        return any(name in node.input for node in self._graph.node) or any(name == output.name for output in self._graph.output)

    def _name_for(self, name: str) -> str:
        base = fitting = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_") or "value"
        number = 1
        while fitting in self._taken.values():
            number += 1
            fitting = f"{base}_{number}"
        self._taken[name] = fitting
        return fitting

    @staticmethod
    def _output_name(name: str) -> str:
        return re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_") or "output"


# ---- What nodes become: the value of the first output, or the values of several ----

_Maker = Callable[[_Node], Union[Value, Tuple[Value, ...]]]


def _same(op: str) -> _Maker:
    return lambda node: node.call(op, {"self": node.value()})


def _arithmetic(op: str) -> _Maker:
    def make(node: _Node) -> Value:
        first, second = (node._importer.operand(name) for name in node._proto.input)
        return node.call(op, {"self": first, "other": second})
    return make


def _sum(node: _Node) -> Value:
    total = node.value()
    for index in range(1, len(node._proto.input)):
        total = total + node.value(index)
    return total


def _clip(node: _Node) -> Value:
    bounds = []
    for index, name, default in ((1, "min", -math.inf), (2, "max", math.inf)):
        given = node.constant(index) if node.opset >= 11 else node.attribute(name)
        bounds.append(default if given is None else float(np.asarray(given).reshape(())))
    return node.call("Hardtanh", {"self": node.value()}, clip_value_min=bounds[0], clip_value_max=bounds[1])


def _hard_sigmoid(node: _Node) -> Value:
    line = node.value() * node.attribute("alpha", 0.2) + node.attribute("beta", 0.5)
    return node.call("Hardtanh", {"self": line}, clip_value_min=0.0, clip_value_max=1.0)


def _selu(node: _Node) -> Value:
    alpha, gamma = node.attribute("alpha", 1.67326319217681884765625), node.attribute("gamma", 1.05070102214813232421875)
    return node.call("Elu", {"self": node.value()}, alpha=alpha, scale=gamma, input_scale=1.0)


def _gelu(node: _Node) -> Value:
    return node.call("GeluV2", {"self": node.value()}, approximate=int(node.attribute("approximate", "none") == "tanh"))


def _prelu(node: _Node) -> Value:
    shape, slope = node.shape(), node.shape(1)
    padded = [1] * (len(shape) - len(slope)) + slope
    is_by_channel = len(shape) > 1 and padded == [1, shape[1]] + [1] * (len(shape) - 2)
    if not is_by_channel and math.prod(slope) != 1:
        above, below = (node.call("Relu", {"self": value}) for value in (node.value(), -node.value()))
        return above - node.value(1) * below
    return node.call("Prelu", {"self": node.value(), "weight": node.value(1).reshape(-1)})


def _along(op: str) -> _Maker:
    """Before version 13 all dimensions from the axis on are one."""
    def make(node: _Node) -> Value:
        if node.opset >= 13:
            return node.call(op, {"self": node.value()}, dim=node.attribute("axis", -1))
        shape, axis = node.shape(), node.attribute("axis", 1)
        rows = math.prod(shape[:axis] if axis >= 0 else shape[:len(shape) + axis])
        flat = node.call(op, {"self": node.value().reshape(rows, -1)}, dim=1)
        return flat.reshape(shape)
    return make


def _transposed(node: _Node, index: int) -> Value:
    rows, columns = node.shape(index)
    return node.value(index).view((columns, rows), (1, columns))


def _gemm(node: _Node) -> Value:
    first, second = (_transposed(node, index) if node.attribute(name, 0) else node.value(index)
                     for index, name in ((0, "transA"), (1, "transB")))
    alpha, beta = node.attribute("alpha", 1.0), node.attribute("beta", 1.0)
    added = node.optional(2)
    if added is not None:
        return node.call("Addmm", {"self": added, "mat1": first, "mat2": second}, alpha=alpha, beta=beta)
    product = node.call("Matmul", {"self": first, "mat2": second})
    return product if alpha == 1.0 else product * alpha


def _matmul(node: _Node) -> Value:
    first, second = node.shape(), node.shape(1)
    if len(first) == 2 and len(second) == 2:
        return node.value() @ node.value(1)
    if len(second) == 2 and len(first) > 2:
        return (node.value().reshape(-1, first[-1]) @ node.value(1)).reshape(*first[:-1], second[-1])
    node.refuse_unless(len(first) > 2 and first[:-2] == second[:-2],
                       f"matrices, stacks of as many matrices, or a stack and a matrix, got the shapes {first} and {second}")
    product = node.call("BatchMatMul", {"self": node.value().reshape(-1, *first[-2:]), "mat2": node.value(1).reshape(-1, *second[-2:])})
    return product.reshape(*first[:-1], second[-1])


def _padding(node: _Node, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> List[int]:
    count = len(kernel)
    kind = node.attribute("auto_pad", "NOTSET")
    if kind == "VALID":
        return [0] * count
    pads = node.attribute("pads") or [0] * (2 * count)
    if kind != "NOTSET":
        spatial = node.shape()[2:]
        pads = [0] * (2 * count)
        for i in range(count):
            wide = max(0, (math.ceil(spatial[i] / strides[i]) - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 - spatial[i])
            pads[i], pads[count + i] = (wide // 2, wide - wide // 2) if kind == "SAME_UPPER" else (wide - wide // 2, wide // 2)
    node.refuse_unless(list(pads[:count]) == list(pads[count:]), f"the same padding before and after, got {list(pads)}")
    return list(pads[:count])


def _convolution(node: _Node) -> Value:
    kernel = node.shape(1)[2:]
    strides, dilations = (list(node.attribute(name) or [1] * len(kernel)) for name in ("strides", "dilations"))
    inputs = {"input": node.value(), "weight": node.value(1), "bias": node.optional(2)}
    return node.call("Convolution", inputs, stride=strides, padding=_padding(node, kernel, strides, dilations), dilation=dilations,
                     transposed=False, output_padding=[0] * len(kernel), groups=node.attribute("group", 1))


def _pool(node: _Node, op: str, **more: Any) -> Value:
    kernel = list(node.attribute("kernel_shape"))
    node.refuse_unless(len(kernel) == 2, f"two spatial dimensions, got {len(kernel)}")
    strides, dilations = (list(node.attribute(name) or [1, 1]) for name in ("strides", "dilations"))
    if op == "MaxPool2dWithIndices":
        more["dilation"] = dilations
    else:
        node.refuse_unless(dilations == [1, 1], f"dilations of 1, got {dilations}")
    return node.call(op, {"self": node.value()}, kernel_size=kernel, stride=strides, padding=_padding(node, kernel, strides, dilations),
                     ceil_mode=bool(node.attribute("ceil_mode", 0)), **more)


def _max_pool(node: _Node) -> Value:
    return _pool(node, "MaxPool2dWithIndices")


def _average_pool(node: _Node) -> Value:
    return _pool(node, "AvgPool2d", count_include_pad=bool(node.attribute("count_include_pad", 0)))


def _global_average_pool(node: _Node) -> Value:
    return node.value().mean(tuple(range(2, len(node.shape()))), keep_dims=True)


def _global_max_pool(node: _Node) -> Value:
    spatial = node.shape()[2:]
    node.refuse_unless(len(spatial) == 2, f"two spatial dimensions, got {len(spatial)}")
    return node.call("MaxPool2dWithIndices", {"self": node.value()}, kernel_size=spatial, stride=spatial, padding=[0, 0], dilation=[1, 1])


def _batch_norm(node: _Node) -> Value:
    node.refuse_unless(not node.attribute("training_mode", 0) and node.attribute("spatial", 1) == 1, "inference by channels")
    inputs = zip(("input", "weight", "bias", "running_mean", "running_var"), range(5))
    return node.call("BatchNorm", {name: node.value(index) for name, index in inputs}, training=False,
                     eps=node.attribute("epsilon", 1e-5))


def _instance_norm(node: _Node) -> Value:
    samples, channels, *spatial = node.shape()
    return node.call("GroupNorm", {"self": node.value(), "gamma": node.value(1), "beta": node.value(2)}, N=samples, C=channels,
                     HxW=math.prod(spatial), group=channels, eps=node.attribute("epsilon", 1e-5))


def _layer_norm(node: _Node) -> Tuple[Value, ...]:
    shape, axis = node.shape(), node.attribute("axis", -1)
    inputs = {"input": node.value(), "weight": node.value(1), "bias": node.optional(2)}
    out = node.call("LayerNorm", inputs, normalized_shape=shape[axis:], eps=node.attribute("epsilon", 1e-5))
    return out, out["mean"], out["rstd"]


def _reshape(node: _Node) -> Value:
    wanted = node.constant(1) if node.opset >= 5 else node.attribute("shape")
    extents = [int(extent) for extent in np.asarray(wanted)]
    if not node.attribute("allowzero", 0):
        extents = [node.shape()[i] if extent == 0 else extent for i, extent in enumerate(extents)]
    return node.value().reshape(extents)


def _to_output_shape(node: _Node) -> Value:
    return node.value().reshape(node.output_shape())


def _unchanged(node: _Node) -> Value:
    if node.op == "Dropout" and node.opset >= 12 and node.has(2):
        node.refuse_unless(not bool(np.asarray(node.constant(2)).reshape(())), "inference, got training_mode")
    return node.value()


def _transpose(node: _Node) -> Value:
    return node.value().permute(node.attribute("perm") or list(range(len(node.shape())))[::-1])


def _reduce(node: _Node) -> Value:
    given = node.attribute("axes")
    if given is None and node.has(1):
        given = node.constant(1)
    axes = [] if given is None else [int(axis) for axis in np.asarray(given)]
    if not axes and node.attribute("noop_with_empty_axes", 0):
        return node.value()
    keep = bool(node.attribute("keepdims", 1))
    dims = axes or list(range(len(node.shape())))
    return node.value().mean(dims, keep_dims=keep) if node.op == "ReduceMean" else node.value().sum(dims, keep_dims=keep)


def _gather(node: _Node) -> Value:
    node.refuse_unless(len(node.shape()) == 2 and node.attribute("axis", 0) in (0, -2), "rows of a matrix (axis 0)")
    return node.call("Embedding", {"weight": node.value(), "indices": node.value(1)})


_MAKERS: Dict[str, _Maker] = {
    "Add": _arithmetic("Add"), "Sub": _arithmetic("Sub"), "Mul": _arithmetic("Mul"), "Div": _arithmetic("Div"), "Sum": _sum,
    "Neg": lambda node: -node.value(), "Identity": _unchanged, "Dropout": _unchanged, "Constant": _unchanged,
    "Relu": _same("Relu"), "Sigmoid": _same("Sigmoid"), "Tanh": _same("Tanh"), "Softplus": _same("Softplus"), "Mish": _same("Mish"),
    "HardSwish": _same("Hardswish"), "HardSigmoid": _hard_sigmoid, "Selu": _selu, "Gelu": _gelu, "PRelu": _prelu, "Clip": _clip,
    "Elu": lambda node: node.call("Elu", {"self": node.value()}, alpha=node.attribute("alpha", 1.0)),
    "LeakyRelu": lambda node: node.call("LeakyRelu", {"self": node.value()}, negative_slope=node.attribute("alpha", 0.01)),
    "Softmax": _along("Softmax"), "LogSoftmax": _along("LogSoftmax"), "Gemm": _gemm, "MatMul": _matmul, "Conv": _convolution,
    "MaxPool": _max_pool, "AveragePool": _average_pool, "GlobalAveragePool": _global_average_pool, "GlobalMaxPool": _global_max_pool,
    "BatchNormalization": _batch_norm, "InstanceNormalization": _instance_norm, "LayerNormalization": _layer_norm,
    "Reshape": _reshape, "Flatten": _to_output_shape, "Squeeze": _to_output_shape, "Unsqueeze": _to_output_shape,
    "Transpose": _transpose, "ReduceMean": _reduce, "ReduceSum": _reduce, "Gather": _gather,
}

OPERATORS: Tuple[str, ...] = tuple(sorted(_MAKERS))
"""What models may have, in the versions 1 to 17 of ONNX's operators where these agree with what servers compute."""
