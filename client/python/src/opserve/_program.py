"""Programs: several operators in one call, written as Python writes arithmetic. docs/programs.md has what servers make of them."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._arrays import as_array, floating_dtype, is_weak
from ._attributes import attribute_of
from ._dtypes import BFLOAT16, data_type_of, is_floating
from ._proto import types_pb2 as types
from ._program_text import text_of, text_of_tensor
from ._schema import function_name

Shape = Union[int, Sequence[int]]


class Value:
    """What a program computes with, without its numbers: an input, a step's output, or a view of one.

    It has + - * / @ and unary minus, and broadcasts as arrays do; arrays and numbers beside it become constants. An operator of the
    catalogue is `program.call(...)` or `opserve.apply(...)`. `step["mean"]` is another output of its step.
    """

    __array_ufunc__ = None  # NumPy's arrays leave `array * value` to this class

    def __init__(self, program: "Program", tensor: types.Tensor) -> None:
        self.program = program
        self._tensor = tensor

    @property
    def name(self) -> str:
        """The name in the program: "x", "h", "h.mean"."""
        return self._tensor.value

    def __getitem__(self, output: str) -> "Value":
        if not isinstance(output, str):
            raise TypeError(f"want the name of an output of the step, got {output!r}; view() makes slices")
        step = self.name.partition(".")[0]
        if step in self.program.input_names:
            raise ValueError(f"{step}: want a step's value, got an input of the program")
        return Value(self.program, types.Tensor(value=f"{step}.{output}"))

    def reshape(self, *shape: Shape) -> "Value":
        """The elements in another shape, in their order: reshape(2, -1), reshape((2, -1)). One extent may be -1."""
        extents = _dims(shape)
        return Value(self.program, types.Tensor(value=self._dense_name("reshape"), shape=extents, scalar=not extents))

    def view(self, shape: Shape, strides: Shape, offset: int = 0) -> "Value":
        """A view whose storage is the value's elements, without a copy: a transposed matrix, a broadcast row, a slice. Strides and
        offset are in elements."""
        extents, steps = _dims((shape,)), _dims((strides,))
        if len(steps) != len(extents):
            raise ValueError(f"strides: want {len(extents)}, one for each extent, got {len(steps)}")
        return Value(self.program, types.Tensor(value=self._dense_name("view"), shape=extents, strides=steps, scalar=not extents,
                                                storage_offset=offset))

    def permute(self, *dims: Shape) -> "Value":
        """A copy with the dimensions in another order (Permute)."""
        return self.program.call("Permute", {"self": self}, {"dims": _dims(dims)})

    def sum(self, dims: Shape = (), *, keep_dims: bool = False) -> "Value":
        """The sum over some dimensions, over all without any (ReduceSum)."""
        return self.program.call("ReduceSum", {"self": self}, {"dims": _dims((dims,)), "keep_dims": keep_dims})

    def mean(self, dims: Shape = (), *, keep_dims: bool = False) -> "Value":
        """The mean over some dimensions, over all without any (Mean)."""
        return self.program.call("Mean", {"self": self}, {"dim": _dims((dims,)), "keep_dim": keep_dims})

    def _dense_name(self, wanted_by: str) -> str:
        if self._tensor.strides:
            raise ValueError(f"{wanted_by}: want a value whose elements lie in their order, got the view {self}")
        return self.name

    def _with(self, op: str, first: Any, second: Any) -> "Value":
        if first is None or second is None:
            raise TypeError(f"{op}: want a value, an array or a number, got None")
        return self.program.call(op, {"self": first, "mat2" if op == "Matmul" else "other": second})

    def __add__(self, other: Any) -> "Value":
        return self._with("Add", self, other)

    def __radd__(self, other: Any) -> "Value":
        return self._with("Add", other, self)

    def __sub__(self, other: Any) -> "Value":
        return self._with("Sub", self, other)

    def __rsub__(self, other: Any) -> "Value":
        return self._with("Sub", other, self)

    def __mul__(self, other: Any) -> "Value":
        return self._with("Mul", self, other)

    def __rmul__(self, other: Any) -> "Value":
        return self._with("Mul", other, self)

    def __truediv__(self, other: Any) -> "Value":
        return self._with("Div", self, other)

    def __rtruediv__(self, other: Any) -> "Value":
        return self._with("Div", other, self)

    def __matmul__(self, other: Any) -> "Value":
        return self._with("Matmul", self, other)

    def __rmatmul__(self, other: Any) -> "Value":
        return self._with("Matmul", other, self)

    def __neg__(self) -> "Value":
        return self._with("Mul", self, -1.0)

    def __bool__(self) -> bool:
        raise TypeError(f"want a number, got {self!r}, which has none before the program runs")

    def __str__(self) -> str:
        return text_of_tensor(self._tensor)

    def __repr__(self) -> str:
        return f"<opserve value {self}>"


class Program:
    """Several operators in one call, and the gradients of a value with respect to inputs.

        p = opserve.Program()
        x, w, b, t = p.inputs("x", "w", "b", "t")
        h = p.call("Addmm", {"self": b, "mat1": x, "mat2": w})
        loss = p.call("MseLoss", {"self": h, "target": t}, reduction="mean")
        p.output(loss=loss)
        p.gradient(loss, ["w", "b"])              # the outputs grad_w and grad_b

    It goes where an operator's name goes: client.execute(p, {"x": …}), client.plan, Call, session.plan. str() has a step a line.
    Shapes and dtypes are the inputs' of each call; a number takes the dtype that the call's floating inputs promote to.
    """

    def __init__(self) -> None:
        self._message = types.Program()
        self._inputs: List[str] = []
        self._names: Dict[str, int] = {}  # of inputs and steps; how often a step of that name was numbered
        self._encoded: Dict[Any, bytes] = {}

    @classmethod
    def of_call(cls, call: types.Call) -> "Program":
        """That of a message, such as a plan has."""
        program = cls()
        program._message.CopyFrom(call.program)
        program._inputs = [tensor.name for tensor in call.inputs]
        program._names = dict.fromkeys([*program._inputs, *(step.name for step in call.program.steps)], 1)
        return program

    @property
    def input_names(self) -> Tuple[str, ...]:
        """What calls give arrays for."""
        return tuple(self._inputs)

    @property
    def outputs(self) -> Dict[str, Value]:
        """What the call gives, without the gradients that the program asks for. Those of a plan's program have them: its steps
        compute them, and more steps may use them."""
        return {output.name: self.value(output.value) for output in self._message.outputs}

    def value(self, name: str) -> Value:
        """A value by its name: "x", "h", "h.mean"."""
        if name.partition(".")[0] not in self._names:
            raise ValueError(f"name: want an input, a step or an output of one, got {name}")
        return Value(self, types.Tensor(value=name))

    def input(self, name: str) -> Value:
        """An input of the call."""
        self._take(name)
        self._inputs.append(name)
        return Value(self, types.Tensor(value=name))

    def inputs(self, *names: str) -> Tuple[Value, ...]:
        """Several inputs: x, w = p.inputs("x", "w")."""
        return tuple(self.input(name) for name in names)

    def call(self, op: str, inputs: Mapping[str, Any], attributes: Optional[Mapping[str, Any]] = None, /, *,
             name: Optional[str] = None, **more: Any) -> Value:
        """A step; gives its first output.

        inputs      by the operator's names: values of this program, or arrays and numbers, which become constants; None is left out
        attributes  by name, as a mapping or as further arguments; those with a default may be left out
        name        of the step, in errors and in str(); the operator's in small letters unless given
        """
        tensors = [self._tensor(key, value) for key, value in inputs.items() if value is not None]
        values = [attribute_of(key, value) for key, value in {**(attributes or {}), **more}.items() if value is not None]
        step = self._take(name) if name is not None else self._numbered(op)
        self._message.steps.add(name=step, op=op, inputs=tensors, attributes=values)
        self._encoded.clear()
        return Value(self, types.Tensor(value=step))

    def output(self, **values: Value) -> None:
        """Names what the call gives: p.output(loss=loss). Of a view a step makes a copy."""
        taken = {output.name for output in self._message.outputs}
        for name, value in values.items():
            if name in taken:
                raise ValueError(f"{name}: want a name of its own among the outputs, got it twice")
            self._message.outputs.add(name=name, value=self._whole(name, value))
        self._encoded.clear()

    def gradient(self, of: Value, with_respect_to: Sequence[Union[str, Value]], *, seed: Union[str, Value, None] = None,
                 max_workspace_bytes: int = 0) -> None:
        """Asks for the gradients of a value, which has one element, with respect to inputs; that of "w" is the output "grad_w".
        `seed` is an input that is the gradient of `of`, which then may have any shape. `max_workspace_bytes` bounds the program's
        workspace: the server computes results again where keeping them takes more; 0 is no bound."""
        if self._message.HasField("gradient"):
            raise ValueError(f"gradient: want one for each program, got one of {self._message.gradient.of} already")
        names = [self._input_name("with_respect_to", value) for value in
                 ([with_respect_to] if isinstance(with_respect_to, (str, Value)) else with_respect_to)]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"with_respect_to: want each input once, got {name} twice")
        seed_name = "" if seed is None else self._input_name("seed", seed)
        self._message.gradient.CopyFrom(types.GradientRequest(
            of=self._whole("gradient", of), with_respect_to=names, seed=seed_name,
            max_workspace_bytes=max_workspace_bytes))
        self._encoded.clear()

    def encoded(self, dtype: "np.dtype[Any]") -> bytes:
        """The message of proto/opserve/v1/types.proto, in which numbers have this dtype. The same object until the program changes."""
        known = self._encoded.get(dtype)
        if known is None:
            message = types.Program()
            message.CopyFrom(self._message)
            for step in message.steps:
                for tensor in step.inputs:
                    if tensor.HasField("values") and not tensor.dtype:
                        tensor.dtype = data_type_of(dtype)
            known = self._encoded[dtype] = message.SerializeToString()
        return known

    def _take(self, name: str) -> str:
        if not name or "." in name:
            raise ValueError(f"name: want one of a letter or more, without a dot, got {name!r}")
        if name in self._names:
            raise ValueError(f"{name}: want a name of its own among inputs and steps, got it twice")
        self._names[name] = 1
        return name

    def _numbered(self, op: str) -> str:
        base = name = function_name(op).replace(".", "_") or "step"
        while name in self._names:
            self._names[base] += 1
            name = f"{base}_{self._names[base]}"
        return self._take(name)

    def _own(self, parameter: str, value: Any) -> Value:
        if not isinstance(value, Value):
            raise ValueError(f"{parameter}: want a value of this program, got {type(value).__name__}")
        if value.program is not self:
            raise ValueError(f"{parameter}: want a value of this program, got {value} of another")
        return value

    def _input_name(self, parameter: str, value: Union[str, Value]) -> str:
        name = value if isinstance(value, str) else str(self._own(parameter, value))
        if name not in self._inputs:
            raise ValueError(f"{parameter}: want one of the inputs {', '.join(self._inputs)}, got {name}")
        return name

    def _whole(self, parameter: str, value: Any) -> str:
        """The name of a value; a view becomes one by a copy."""
        tensor = self._own(parameter, value)._tensor
        if tensor.shape or tensor.scalar:
            return self.call("Permute", {"self": value}, {"dims": list(range(len(tensor.shape)))}).name
        return tensor.value

    def _tensor(self, name: str, value: Any) -> types.Tensor:
        if not isinstance(value, Value):
            return _constant(name, value)
        tensor = types.Tensor()
        tensor.CopyFrom(self._own(name, value)._tensor)
        tensor.name = name
        return tensor

    def __str__(self) -> str:
        return text_of(self._message)

    def __repr__(self) -> str:
        return f"<opserve program of {', '.join(self._inputs)}: {len(self._message.steps)} steps>"


def apply(op: str, inputs: Mapping[str, Any], attributes: Optional[Mapping[str, Any]] = None, /, *, name: Optional[str] = None,
          **more: Any) -> Value:
    """A step of the program that the inputs are values of: Program.call."""
    program = program_among(inputs)
    if program is None:
        raise ValueError(f"{op}: want a value of a program among the inputs, got {', '.join(inputs) or 'none'} without one")
    return program.call(op, inputs, attributes, name=name, **more)


def op_of(op: Union[str, Program], dtypes: Iterable["np.dtype[Any]"]) -> Union[str, bytes]:
    """An operator's name, or a program's bytes for inputs of these dtypes."""
    return op if isinstance(op, str) else op.encoded(floating_dtype(dtypes))


def program_among(inputs: Mapping[str, Any]) -> Optional[Program]:
    """The program that the first value among inputs is of; None without one."""
    return next((value.program for value in inputs.values() if isinstance(value, Value)), None)


def _dims(dims: Sequence[Shape]) -> List[int]:
    """reshape(2, 3) and reshape((2, 3)) are the same."""
    only = dims[0] if len(dims) == 1 else dims
    return [int(extent) for extent in ([only] if isinstance(only, (int, np.integer)) else only)]  # type: ignore[arg-type]


def _constant(name: str, value: Any) -> types.Tensor:
    try:
        array = as_array(value)
        # Without one Program.encoded() says which.
        data_type = types.DATA_TYPE_UNSPECIFIED if is_weak(value) else data_type_of(array.dtype)
    except (TypeError, ValueError, BufferError, RuntimeError) as error:
        raise TypeError(f"{name}: {error}") from error
    if array.dtype == np.dtype("V2"):  # bfloat16 without ml_dtypes: the upper half of a float32
        array = (np.ascontiguousarray(array).view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    elif array.dtype == BFLOAT16:
        array = array.astype(np.float32)
    kind = "floats" if is_floating(array.dtype) or not data_type else {"b": "bools", "u": "uints"}.get(array.dtype.kind, "ints")
    if kind == "uints" and array.dtype.itemsize < 8:
        kind = "ints"
    values = types.TensorValues(**{kind: array.reshape(-1).tolist()})
    return types.Tensor(name=name, dtype=data_type, shape=array.shape, values=values)
