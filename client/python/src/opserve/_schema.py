"""What an operator is, as ListOperators tells, and a Python function of each."""

from __future__ import annotations

import difflib
import inspect
import re
from dataclasses import dataclass
from typing import Any, Callable, Iterable, List, NamedTuple, Tuple

from ._attributes import value_of
from ._dtypes import short_name
from ._html import escaped, table
from ._proto import operator_service_pb2 as api

OPTIONS = ("out", "device", "timeout")
_KINDS = {
    api.ATTRIBUTE_KIND_INT: "int", api.ATTRIBUTE_KIND_FLOAT: "float", api.ATTRIBUTE_KIND_BOOL: "bool",
    api.ATTRIBUTE_KIND_INT_LIST: "Sequence[int]", api.ATTRIBUTE_KIND_BOOL_LIST: "Sequence[bool]",
    api.ATTRIBUTE_KIND_SCALAR: "float",
}


class Parameter(NamedTuple):
    """An input or an output."""

    name: str
    summary: str
    optional: bool
    dtypes: Tuple[str, ...]
    shape: str


class Attribute(NamedTuple):
    """An attribute. `type` is as annotations have it; `default` is REQUIRED where there is none."""

    name: str
    summary: str
    type: str
    default: Any
    choices: Tuple[str, ...]

    @property
    def required(self) -> bool:
        return self.default is REQUIRED


REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True)
class Operator:
    """An operator: its parameters, its mathematics, and the message that all of it came in."""

    name: str
    summary: str
    description: str
    family: str
    inputs: Tuple[Parameter, ...]
    attributes: Tuple[Attribute, ...]
    outputs: Tuple[Parameter, ...]
    schema: api.OperatorSchema

    @staticmethod
    def of(schema: api.OperatorSchema) -> "Operator":
        return Operator(schema.name, schema.summary, schema.description, schema.family,
                        tuple(map(_parameter, schema.inputs)), tuple(map(_attribute, schema.attributes)),
                        tuple(map(_parameter, schema.outputs)), schema)

    @property
    def function_name(self) -> str:
        """Its name in `ops`: smooth_l1_loss_backward."""
        return function_name(self.name)

    def __str__(self) -> str:
        return documentation(self)

    def __repr__(self) -> str:
        return f"<Operator {self.name}: {self.summary}>"

    def _repr_html_(self) -> str:
        rows = [(parameter.name, parameter.summary, parameter.shape, " ".join(parameter.dtypes)) for parameter in self.inputs]
        rows += [(attribute.name, attribute.summary, attribute.type, "required" if attribute.required else repr(attribute.default))
                 for attribute in self.attributes]
        rows += [(f"→ {parameter.name}", parameter.summary, parameter.shape, " ".join(parameter.dtypes))
                 for parameter in self.outputs]
        return (f"<b>{escaped(self.name)}</b>: {escaped(self.summary)}<pre>{escaped(self.description)}</pre>"
                + table(("name", "what", "shape or type", "dtypes or default"), rows))


def _parameter(parameter: api.TensorParameter) -> Parameter:
    return Parameter(parameter.name, parameter.summary, parameter.optional, tuple(map(short_name, parameter.dtypes)),
                     parameter.shape)


def _attribute(attribute: api.AttributeParameter) -> Attribute:
    names = {choice.value: choice.name for choice in attribute.choices}
    default = value_of(attribute.default_value) if attribute.HasField("default_value") else REQUIRED
    if names and isinstance(default, int):
        default = names.get(default, default)
    choices = tuple(names.values())
    kind = f"Literal[{', '.join(map(repr, choices))}]" if choices else _KINDS.get(attribute.kind, "Any")
    return Attribute(attribute.name, attribute.summary, kind, default, choices)


def function_name(name: str) -> str:
    """SmoothL1LossBackward → smooth_l1_loss_backward."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def documentation(operator: Operator) -> str:
    """A docstring."""
    lines = [operator.summary, "", operator.description, ""]
    for title, rows in (("Inputs", operator.inputs), ("Outputs", operator.outputs)):
        lines += [f"{title}:"]
        lines += [f"    {row.name}: {row.summary}; {row.shape}; {' '.join(row.dtypes)}{'; optional' if row.optional else ''}"
                  for row in rows]
    if operator.attributes:
        lines += ["Attributes:"]
        lines += [f"    {row.name}: {row.summary}; {' | '.join(row.choices) or row.type}" for row in operator.attributes]
    return "\n".join(lines)


def signature(operator: Operator) -> inspect.Signature:
    """Inputs by position or name, in the schema's order; attributes by name; then the options of execute()."""
    kinds = inspect.Parameter
    required_over = False
    parameters: List[inspect.Parameter] = []
    for row in operator.inputs:
        required_over = required_over or row.optional
        default = None if row.optional else kinds.empty
        kind = kinds.KEYWORD_ONLY if required_over and not row.optional else kinds.POSITIONAL_OR_KEYWORD
        parameters.append(kinds(row.name, kind, default=default, annotation="ArrayLike" if not row.optional else "Optional[ArrayLike]"))
    parameters += [kinds(row.name, kinds.KEYWORD_ONLY, default=row.default, annotation=row.type) for row in operator.attributes]
    parameters += [kinds(name, kinds.KEYWORD_ONLY, default=None) for name in OPTIONS]
    parameters.sort(key=lambda parameter: parameter.kind)
    return inspect.Signature(parameters)


def closest(name: str, names: Iterable[str]) -> str:
    """'; did you mean "mean"?', to end an error with; empty where none is near."""
    found = difflib.get_close_matches(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower(), names, 1)
    return f'; did you mean "{found[0]}"?' if found else ""


def make_function(operator: Operator, call: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the operator, with its signature and its documentation, that calls call(operator, inputs, attributes, options)."""
    wanted = signature(operator)
    inputs = {row.name for row in operator.inputs}

    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            given = wanted.bind(*args, **kwargs).arguments
        except TypeError as error:
            unknown = next((name for name in kwargs if name not in wanted.parameters), None)
            told = error if unknown is None else f"unexpected argument {unknown!r}{closest(unknown, wanted.parameters)}"
            raise TypeError(f"{operator.function_name}: {told}") from None
        options = {name: given[name] for name in OPTIONS if given.get(name) is not None}
        tensors = {name: value for name, value in given.items() if name in inputs}
        attributes = {name: value for name, value in given.items() if name not in inputs and name not in OPTIONS}
        return call(operator, tensors, attributes, options)

    function.__name__ = function.__qualname__ = operator.function_name
    function.__doc__ = documentation(operator)
    function.__signature__ = wanted  # type: ignore[attr-defined]
    function.__module__ = "opserve.ops"
    return function
