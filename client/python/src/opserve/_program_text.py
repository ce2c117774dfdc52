"""Programs as people read them, in the form that `opserve program` takes: a step a line."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ._attributes import value_of
from ._dtypes import short_name
from ._proto import types_pb2 as types


def text_of(program: types.Program) -> str:
    """A step a line, the gradient asked for, and the outputs."""
    lines = [_text_of_step(step) for step in program.steps]
    if program.HasField("gradient"):
        asked = program.gradient
        seed = f" seed {asked.seed}" if asked.seed else ""
        bound = f" within {asked.max_workspace_bytes}" if asked.max_workspace_bytes else ""
        lines.append(f"gradient {asked.of}: {', '.join(asked.with_respect_to)}{seed}{bound}")
    outputs = (f"{output.name}={output.value}" for output in program.outputs)
    return "\n".join([*lines, f"return {', '.join(outputs)}"])


def text_of_tensor(tensor: types.Tensor) -> str:
    """A step's input: a value, a view of one, or a constant."""
    if tensor.HasField("values"):
        return _text_of_constant(tensor)
    text: str = tensor.value
    if tensor.shape or tensor.scalar:
        text += f"[{_joined(tensor.shape)}]"
    if tensor.strides:
        text += f".strides({_joined(tensor.strides)})"
    if tensor.storage_offset:
        text += f".offset({tensor.storage_offset})"
    return text


def _text_of_step(step: types.Step) -> str:
    arguments = [f"{tensor.name}={text_of_tensor(tensor)}" for tensor in step.inputs]
    arguments += [f"{attribute.name}={_text_of_value(value_of(attribute))}" for attribute in step.attributes]
    return f"{step.name} = {step.op}({', '.join(arguments)})"


def _text_of_constant(tensor: types.Tensor) -> str:
    values = tensor.values
    # As few digits as tell the number from its neighbours in its own dtype.
    number = float if tensor.dtype in (types.DATA_TYPE_UNSPECIFIED, types.DATA_TYPE_FLOAT64) else np.float32
    elements = [*(float(str(number(value))) for value in values.floats), *values.ints, *values.uints, *values.bools]
    if not tensor.dtype and not tensor.shape:
        return _joined(elements)
    dtype = short_name(tensor.dtype or types.DATA_TYPE_FLOAT32)
    return f"{dtype}[{_joined(tensor.shape)}]{{{_joined(elements)}}}"


def _text_of_value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{_joined(value)}]"
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _joined(values: Sequence[Any]) -> str:
    return ",".join(map(_text_of_value, values))
