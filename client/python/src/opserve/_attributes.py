"""Attributes: Python's values as the messages', and back."""

from __future__ import annotations

from typing import Any, List, Union

import numpy as np

from ._proto import types_pb2 as types

Value = Union[bool, int, float, str, List[bool], List[int], List[float]]


def attribute_of(name: str, value: Any) -> types.Attribute:
    """A bool, an int, a float, the name of a choice, or a list of bools, ints or floats; NumPy's count as Python's. TypeError for
    anything else."""
    attribute = types.Attribute(name=name)
    value = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
    if isinstance(value, bool):
        attribute.bool_value = value
    elif isinstance(value, int):
        attribute.int_value = value
    elif isinstance(value, float):
        attribute.float_value = value
    elif isinstance(value, str):
        attribute.string_value = value
    elif isinstance(value, (list, tuple)):
        _set_list(attribute, name, [item.item() if isinstance(item, np.generic) else item for item in value])
    else:
        raise TypeError(f"{name}: want a number, a bool, a name or a list of numbers, got {type(value).__name__}")
    return attribute


def _set_list(attribute: types.Attribute, name: str, values: List[Any]) -> None:
    kinds = {type(value) for value in values}
    if not kinds <= {bool} and not kinds <= {int, float}:
        raise TypeError(f"{name}: want a list of numbers or of bools, got {values}")
    if kinds == {bool}:
        attribute.bool_list.values[:] = values
    elif float in kinds:
        attribute.float_list.values[:] = values
    else:
        attribute.int_list.SetInParent()
        attribute.int_list.values[:] = values


def value_of(attribute: types.Attribute) -> Any:
    """The attribute's value; None for one that has none."""
    kind = attribute.WhichOneof("value")
    if kind is None:
        return None
    value = getattr(attribute, kind)
    return list(value.values) if kind.endswith("_list") else value
