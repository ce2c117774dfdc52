"""What the nodes of an ONNX model become: steps of a program. For onnx.py alone."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Mapping, Optional, Protocol, Sequence, Tuple, Union

import numpy as np
import onnx

from ._program import Program, Value


class Graph(Protocol):
    """What is known of the model while its nodes become steps, by ONNX's names."""

    program: Program
    opset: int
    constants: "Dict[str, np.ndarray[Any, Any]]"
    shapes: "Dict[str, List[Optional[int]]]"  # None: an extent that is not known before the call

    def value(self, name: str) -> Value: ...
    def operand(self, name: str) -> Any: ...


class Node:
    """A node while its step is made: attributes, and inputs as values of the program, constants or shapes."""

    def __init__(self, graph: Graph, proto: Any) -> None:
        self._graph = graph
        self._proto = proto
        self.op: str = proto.op_type
        self.opset = graph.opset
        self._attributes = {each.name: onnx.helper.get_attribute_value(each) for each in proto.attribute}

    def attribute(self, name: str, default: Any = None) -> Any:
        value = self._attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def has(self, index: int) -> bool:
        return index < len(self._proto.input) and bool(self._proto.input[index])

    def value(self, index: int = 0) -> Value:
        if not self.has(index):
            raise self.refusal(f"want input {index}, got none")
        return self._graph.value(self._proto.input[index])

    def operand(self, index: int) -> Any:
        """As value(), but a small constant becomes part of the program."""
        return self._graph.operand(self._proto.input[index])

    @property
    def inputs(self) -> int:
        return len(self._proto.input)

    def optional(self, index: int) -> Optional[Value]:
        return self.value(index) if self.has(index) else None

    def shape(self, index: int = 0) -> List[int]:
        """Raises where an extent is not known."""
        shape = self._graph.shapes.get(self._proto.input[index])
        if shape is None or None in shape:
            raise self.refusal(f"want the shape of {self._proto.input[index]}, which the model leaves open: name the inputs' in shapes=")
        return [int(extent) for extent in shape if extent is not None]

    def output_shape(self) -> List[int]:
        """At most one extent is -1."""
        shape = self._graph.shapes.get(self._proto.output[0])
        if shape is None or shape.count(None) > 1:
            raise self.refusal("want the shape of the output, which the model leaves open: name the inputs' in shapes=")
        return [-1 if extent is None else extent for extent in shape]

    def constant(self, index: int) -> "Optional[np.ndarray[Any, Any]]":
        """None where there is no such input."""
        if not self.has(index):
            return None
        known: "Optional[np.ndarray[Any, Any]]" = self._graph.constants.get(self._proto.input[index])
        if known is None:
            raise self.refusal(f"want {self._proto.input[index]} to be a constant of the model, got what it computes")
        return known

    def call(self, op: str, inputs: Mapping[str, Any], **attributes: Any) -> Value:
        return self._graph.program.call(op, inputs, attributes)

    def refuse_unless(self, holds: bool, want: str) -> None:
        if not holds:
            raise self.refusal(f"want {want}")

    def refusal(self, words: str) -> NotImplementedError:
        return NotImplementedError(f"node {self._proto.name or self._proto.output[0]} ({self.op}): {words}")


# ---- What nodes become: the value of the first output, or the values of several ----

_Maker = Callable[[Node], Union[Value, Tuple[Value, ...]]]


def _same(op: str) -> _Maker:
    return lambda node: node.call(op, {"self": node.value()})


def _arithmetic(op: str) -> _Maker:
    def make(node: Node) -> Value:
        first, second = (node.operand(index) for index in range(2))
        return node.call(op, {"self": first, "other": second})
    return make


def _sum(node: Node) -> Value:
    total = node.value()
    for index in range(1, node.inputs):
        total = total + node.value(index)
    return total


def _clip(node: Node) -> Value:
    bounds = []
    for index, name, default in ((1, "min", -math.inf), (2, "max", math.inf)):
        given = node.constant(index) if node.opset >= 11 else node.attribute(name)
        bounds.append(default if given is None else float(np.asarray(given).reshape(())))
    return node.call("Hardtanh", {"self": node.value()}, clip_value_min=bounds[0], clip_value_max=bounds[1])


def _hard_sigmoid(node: Node) -> Value:
    line = node.value() * node.attribute("alpha", 0.2) + node.attribute("beta", 0.5)
    return node.call("Hardtanh", {"self": line}, clip_value_min=0.0, clip_value_max=1.0)


def _selu(node: Node) -> Value:
    alpha, gamma = node.attribute("alpha", 1.67326319217681884765625), node.attribute("gamma", 1.05070102214813232421875)
    return node.call("Elu", {"self": node.value()}, alpha=alpha, scale=gamma, input_scale=1.0)


def _gelu(node: Node) -> Value:
    return node.call("GeluV2", {"self": node.value()}, approximate=int(node.attribute("approximate", "none") == "tanh"))


def _prelu(node: Node) -> Value:
    shape, slope = node.shape(), node.shape(1)
    padded = [1] * (len(shape) - len(slope)) + slope
    is_by_channel = len(shape) > 1 and padded == [1, shape[1]] + [1] * (len(shape) - 2)
    if not is_by_channel and math.prod(slope) != 1:
        above, below = (node.call("Relu", {"self": value}) for value in (node.value(), -node.value()))
        return above - node.value(1) * below
    return node.call("Prelu", {"self": node.value(), "weight": node.value(1).reshape(-1)})


def _along(op: str) -> _Maker:
    """Before version 13 all dimensions from the axis on are one."""
    def make(node: Node) -> Value:
        if node.opset >= 13:
            return node.call(op, {"self": node.value()}, dim=node.attribute("axis", -1))
        shape, axis = node.shape(), node.attribute("axis", 1)
        rows = math.prod(shape[:axis] if axis >= 0 else shape[:len(shape) + axis])
        flat = node.call(op, {"self": node.value().reshape(rows, -1)}, dim=1)
        return flat.reshape(shape)
    return make


def _transposed(node: Node, index: int) -> Value:
    rows, columns = node.shape(index)
    return node.value(index).view((columns, rows), (1, columns))


def _gemm(node: Node) -> Value:
    first, second = (_transposed(node, index) if node.attribute(name, 0) else node.value(index)
                     for index, name in ((0, "transA"), (1, "transB")))
    alpha, beta = node.attribute("alpha", 1.0), node.attribute("beta", 1.0)
    added = node.optional(2)
    if added is not None:
        return node.call("Addmm", {"self": added, "mat1": first, "mat2": second}, alpha=alpha, beta=beta)
    product = node.call("Matmul", {"self": first, "mat2": second})
    return product if alpha == 1.0 else product * float(alpha)


def _matmul(node: Node) -> Value:
    first, second = node.shape(), node.shape(1)
    if len(first) == 2 and len(second) == 2:
        return node.value() @ node.value(1)
    if len(second) == 2 and len(first) > 2:
        return (node.value().reshape(-1, first[-1]) @ node.value(1)).reshape(*first[:-1], second[-1])
    node.refuse_unless(len(first) > 2 and first[:-2] == second[:-2],
                       f"matrices, stacks of as many matrices, or a stack and a matrix, got the shapes {first} and {second}")
    product = node.call("BatchMatMul", {"self": node.value().reshape(-1, *first[-2:]), "mat2": node.value(1).reshape(-1, *second[-2:])})
    return product.reshape(*first[:-1], second[-1])


def _padding(node: Node, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> List[int]:
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


def _convolution(node: Node) -> Value:
    kernel = node.shape(1)[2:]
    strides, dilations = (list(node.attribute(name) or [1] * len(kernel)) for name in ("strides", "dilations"))
    inputs = {"input": node.value(), "weight": node.value(1), "bias": node.optional(2)}
    return node.call("Convolution", inputs, stride=strides, padding=_padding(node, kernel, strides, dilations), dilation=dilations,
                     transposed=False, output_padding=[0] * len(kernel), groups=node.attribute("group", 1))


def _pool(node: Node, op: str, **more: Any) -> Value:
    kernel = list(node.attribute("kernel_shape"))
    node.refuse_unless(len(kernel) == 2, f"two spatial dimensions, got {len(kernel)}")
    strides, dilations = (list(node.attribute(name) or [1, 1]) for name in ("strides", "dilations"))
    if op == "MaxPool2dWithIndices":
        more["dilation"] = dilations
    else:
        node.refuse_unless(dilations == [1, 1], f"dilations of 1, got {dilations}")
    return node.call(op, {"self": node.value()}, kernel_size=kernel, stride=strides, padding=_padding(node, kernel, strides, dilations),
                     ceil_mode=bool(node.attribute("ceil_mode", 0)), **more)


def _max_pool(node: Node) -> Value:
    return _pool(node, "MaxPool2dWithIndices")


def _average_pool(node: Node) -> Value:
    return _pool(node, "AvgPool2d", count_include_pad=bool(node.attribute("count_include_pad", 0)))


def _global_average_pool(node: Node) -> Value:
    return node.value().mean(tuple(range(2, len(node.shape()))), keep_dims=True)


def _global_max_pool(node: Node) -> Value:
    spatial = node.shape()[2:]
    node.refuse_unless(len(spatial) == 2, f"two spatial dimensions, got {len(spatial)}")
    return node.call("MaxPool2dWithIndices", {"self": node.value()}, kernel_size=spatial, stride=spatial, padding=[0, 0], dilation=[1, 1])


def _batch_norm(node: Node) -> Value:
    node.refuse_unless(not node.attribute("training_mode", 0) and node.attribute("spatial", 1) == 1, "inference by channels")
    inputs = zip(("input", "weight", "bias", "running_mean", "running_var"), range(5))
    return node.call("BatchNorm", {name: node.value(index) for name, index in inputs}, training=False,
                     eps=node.attribute("epsilon", 1e-5))


def _instance_norm(node: Node) -> Value:
    samples, channels, *spatial = node.shape()
    return node.call("GroupNorm", {"self": node.value(), "gamma": node.value(1), "beta": node.value(2)}, N=samples, C=channels,
                     HxW=math.prod(spatial), group=channels, eps=node.attribute("epsilon", 1e-5))


def _layer_norm(node: Node) -> Tuple[Value, ...]:
    shape, axis = node.shape(), node.attribute("axis", -1)
    inputs = {"input": node.value(), "weight": node.value(1), "bias": node.optional(2)}
    out = node.call("LayerNorm", inputs, normalized_shape=shape[axis:], eps=node.attribute("epsilon", 1e-5))
    return out, out["mean"], out["rstd"]


def _reshape(node: Node) -> Value:
    wanted = node.constant(1) if node.opset >= 5 else node.attribute("shape")
    extents = [int(extent) for extent in np.asarray(wanted)]
    if not node.attribute("allowzero", 0):
        extents = [node.shape()[i] if extent == 0 else extent for i, extent in enumerate(extents)]
    return node.value().reshape(extents)


def _to_output_shape(node: Node) -> Value:
    return node.value().reshape(node.output_shape())


def _unchanged(node: Node) -> Value:
    if node.op == "Dropout" and node.opset >= 12 and node.has(2):
        node.refuse_unless(not bool(np.asarray(node.constant(2)).reshape(())), "inference, got training_mode")
    return node.value()


def _transpose(node: Node) -> Value:
    return node.value().permute(node.attribute("perm") or list(range(len(node.shape())))[::-1])


def _reduce(node: Node) -> Value:
    given = node.attribute("axes")
    if given is None and node.has(1):
        given = node.constant(1)
    axes = [] if given is None else [int(axis) for axis in np.asarray(given)]
    if not axes and node.attribute("noop_with_empty_axes", 0):
        return node.value()
    keep = bool(node.attribute("keepdims", 1))
    dims = axes or list(range(len(node.shape())))
    return node.value().mean(dims, keep_dims=keep) if node.op == "ReduceMean" else node.value().sum(dims, keep_dims=keep)


def _gather(node: Node) -> Value:
    node.refuse_unless(len(node.shape()) == 2 and node.attribute("axis", 0) in (0, -2), "rows of a matrix (axis 0)")
    return node.call("Embedding", {"weight": node.value(), "indices": node.value(1)})


MAKERS: Dict[str, _Maker] = {
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
