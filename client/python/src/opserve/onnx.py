"""ONNX models as programs: inference graphs of the operators that servers have. Needs the package onnx (opserve[onnx]).

    net = opserve.onnx.load("classifier.onnx", shapes={"images": (32, 3, 64, 64)})
    scores = client.execute(net.program, {"images": images, **net.weights})["scores"]

The weights are inputs of the program, so that their gradients can be asked for: add a loss to net.program and call its gradient().
"""

from __future__ import annotations

import os
import re
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.shape_inference

from ._onnx_operators import MAKERS, Node
from ._program import Program, Value

# Larger constants are inputs of the program, beside the weights, rather than part of its message.
_MOST_CONSTANT_ELEMENTS = 1024


OPERATORS: Tuple[str, ...] = tuple(sorted(MAKERS))
"""What models may have, in the versions 1 to 17 of ONNX's operators where these agree with what servers compute."""


class Imported(NamedTuple):
    """A program made of a model. Names that programs do not take ("conv1.weight", "/relu/out") have _ instead of . and /."""

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


class _Importer:
    def __init__(self, model: Any) -> None:
        self.program = Program()
        self.opset = max((each.version for each in model.opset_import if each.domain in ("", "ai.onnx")), default=1)
        self.constants = {each.name: onnx.numpy_helper.to_array(each) for each in model.graph.initializer}
        self.shapes: Dict[str, List[Optional[int]]] = {name: list(array.shape) for name, array in self.constants.items()}
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
        node = Node(self, proto)
        if proto.domain not in ("", "ai.onnx") or proto.op_type not in MAKERS:
            raise node.refusal(f"want one of {', '.join(OPERATORS)}")
        if proto.op_type == "Constant":
            self._add_constant(node, proto.output[0])
            return
        made = MAKERS[proto.op_type](node)
        values = made if isinstance(made, tuple) else (made,)
        beyond = [name for name in proto.output[len(values):] if name and self._is_read(name)]
        node.refuse_unless(not beyond, f"a node of which no output beyond the first {len(values)} is used, got {', '.join(beyond)}")
        self._values.update(zip(proto.output, values))

    def _add_constant(self, node: Node, name: str) -> None:
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
