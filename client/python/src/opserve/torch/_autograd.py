"""Operators as differentiable functions of PyTorch, made from what a schema says of its gradient."""

from __future__ import annotations

import functools
import itertools
import sys
import weakref
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, TypeVar

import numpy as np
import torch

from .._arrays import Array
from .._attributes import value_of
from .._client import Client
from .._dtypes import BFLOAT16
from .._schema import Operator
from .._session import Session
from ._client import Used, current

T = TypeVar("T")
Tensor = Any  # torch.Tensor; PyTorch may be newer than the type checker


_WITH_NUMBERS = (torch.Tensor, torch.nn.Parameter)
# What apply() calls for tensors without numbers, as torch.compile has them: register() sets it.
in_graph: Optional[Callable[..., Tuple[Tensor, ...]]] = None


def first_order(backward: Callable[..., T]) -> Callable[..., T]:
    """A backward() that refuses create_graph=True: what it gives has no gradient of its own."""

    def checked(ctx: Any, *gradients: Tensor) -> T:
        if torch.is_grad_enabled():
            raise NotImplementedError("opserve has no second derivatives: leave out create_graph=True")
        return backward(ctx, *gradients)

    return checked


def to_torch(array: Array) -> Tensor:
    """A result as a tensor of its own."""
    own = array if array.flags.writeable else np.array(array)
    return torch.from_numpy(own.view(np.int16)).view(torch.bfloat16) if own.dtype == BFLOAT16 else torch.from_numpy(own)


@dataclass
class Bound:
    """An operator with its attributes and the names of its inputs, and where it runs."""

    used: Used
    operator: Operator
    names: Tuple[str, ...]
    attributes: Dict[str, Any]
    fetched: Tuple[str, ...]

    def __post_init__(self) -> None:
        gradient = self.operator.schema.gradient
        self.differentiable = {row.output_gradient for row in gradient.inputs}
        self.kept = {row.output for row in gradient.inputs}

    def gradient_call(self, values: Mapping[str, Mapping[str, Tensor]], wanted: Mapping[str, bool]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """Inputs and attributes of the gradient's operator, of tensors by source and name, and which inputs want a gradient."""
        gradient, inputs = self.operator.schema.gradient, {}
        for row in gradient.inputs:
            source = row.WhichOneof("source")
            inputs[row.name] = values[source].get(getattr(row, source))
        attributes = self._gradient_attributes()
        if gradient.output_mask:
            attributes[gradient.output_mask] = [wanted.get(row.input, False) for row in gradient.outputs]
        return inputs, attributes

    def _gradient_attributes(self) -> Dict[str, Any]:
        """Those of the gradient's operator: the forward's of one name, then what the schema says."""
        defaults = {row.name: row.default for row in self.operator.attributes if not row.required}
        forward = {**defaults, **{name: value for name, value in self.attributes.items() if value is not None}}
        gradient = self.operator.schema.gradient
        known = {row.name for row in self.used.client.operators()[gradient.op].attributes}
        attributes = {name: value for name, value in forward.items() if name in known}
        for row in gradient.attributes:
            attributes[row.name] = forward.get(row.attribute) if row.WhichOneof("source") == "attribute" else value_of(row.value)
        return attributes

    def stays(self, output: str) -> bool:
        """Whether an output of a session's call is for the gradient only."""
        return output in self.kept and output not in self.differentiable and output not in self.fetched


def eager(function: Callable[..., T]) -> Callable[..., T]:
    """torch.compile leaves the function and all that it calls as they are, and compiles what is before and behind. As
    torch.compiler.disable, whose import takes seconds, does: here it is imported by who compiles."""
    disabled: List[Callable[..., T]] = []

    @functools.wraps(function)
    def wrapped(*arguments: Any, **named: Any) -> T:
        compiler = sys.modules.get("torch._dynamo")
        if compiler is None:
            return function(*arguments, **named)
        if not disabled:
            disabled.append(compiler.disable(function))
        return disabled[0](*arguments, **named)

    wrapped._torchdynamo_disable = True  # type: ignore[attr-defined]
    return wrapped


@eager
def apply(op: str, inputs: Mapping[str, Optional[Tensor]], attributes: Optional[Mapping[str, Any]] = None,
          fetched: Sequence[str] = ()) -> Tuple[Tensor, ...]:
    """An operator's outputs, in its order, of tensors by name. They are differentiable where its schema has a gradient. Where a session keeps
    the call's tensors, an output that is for the gradient only is an empty tensor here, unless it is one of `fetched`. NotImplementedError where an input wants a gradient
    that the operator does not have."""
    used = current()
    operator = used.client.operators()[op]
    given = {name: tensor for name, tensor in inputs.items() if tensor is not None}
    differentiable = {row.input for row in operator.schema.gradient.outputs}
    for name, tensor in given.items():
        if torch.is_grad_enabled() and tensor.requires_grad and name not in differentiable:
            raise NotImplementedError(f"{op} has no gradient with respect to {name}: detach() it")
    if in_graph is not None and any(type(tensor) not in _WITH_NUMBERS for tensor in given.values()):
        return in_graph(op, given, dict(attributes or {}))
    bound = Bound(used, operator, tuple(given), dict(attributes or {}), tuple(fetched))
    outputs: Tuple[Tensor, ...] = _Function.apply(bound, *given.values())
    return outputs


@eager
def call(function: Any, *arguments: Any) -> Tensor:
    """What an autograd.Function gives."""
    return function.apply(*arguments)


class _Function(torch.autograd.Function):
    """Any operator."""

    @staticmethod
    def forward(ctx: Any, bound: Bound, *tensors: Tensor) -> Tuple[Tensor, ...]:
        inputs = dict(zip(bound.names, tensors))
        ctx.bound = bound
        ctx.like = [(tensor.shape, tensor.dtype) for tensor in tensors]
        ctx.session = bound.used.session_for(sum(tensor.numel() * tensor.element_size() for tensor in tensors))
        outputs = _run(ctx, bound, inputs) if ctx.session is None else _run_in_session(ctx, bound, inputs)
        ctx.names = tuple(outputs)
        ctx.mark_non_differentiable(*(output for name, output in outputs.items() if name not in bound.differentiable))
        return tuple(outputs.values())

    @staticmethod
    @first_order
    def backward(ctx: Any, *gradients: Tensor) -> Tuple[Optional[Tensor], ...]:
        bound: Bound = ctx.bound
        session: Optional[Session] = ctx.session
        gradient = bound.operator.schema.gradient
        saved = ctx.saved_tensors
        values = _tensors_of(saved[0]) if session is not None else {"input": dict(zip(bound.names, saved)),
                                                         "output": dict(zip(ctx.kept, saved[len(bound.names):]))}
        values = {**values, "output_gradient": dict(zip(ctx.names, gradients))}
        wanted = dict(zip(bound.names, ctx.needs_input_grad[1:]))
        inputs, attributes = bound.gradient_call(values, wanted)
        made_for = {row.name: row.input for row in gradient.outputs if wanted.get(row.input)}
        if session is None:
            result: Mapping[str, Array] = bound.used.client.execute(gradient.op, inputs, attributes)
        else:
            resident = session.execute(gradient.op, inputs, attributes)
            result = session._fetched({name: resident[name] for name in made_for})
        made = {made_for[name]: to_torch(result[name]) for name in made_for}
        return (None, *(reduced(made[name], *like) if name in made else None for name, like in zip(bound.names, ctx.like)))


def _run(ctx: Any, bound: Bound, inputs: Dict[str, Tensor]) -> Dict[str, Tensor]:
    """A call by itself: the gradient's sends its tensors once more."""
    result = bound.used.client.execute(bound.operator.name, inputs, bound.attributes)
    outputs = {name: to_torch(array) for name, array in result.items()}
    ctx.kept = tuple(name for name in outputs if name in bound.kept)
    ctx.save_for_backward(*inputs.values(), *(outputs[name] for name in ctx.kept))
    return outputs


_resident: Dict[int, Mapping[str, Mapping[str, Any]]] = {}
_numbers = itertools.count()


def _handle_of(tensors: Mapping[str, Mapping[str, Any]]) -> Tensor:
    """What autograd keeps for tensors of a session: they go with its storage, when autograd drops it."""
    number = np.array(next(_numbers))
    _resident[int(number)] = tensors
    weakref.finalize(number, _resident.pop, int(number)).atexit = False
    return torch.from_numpy(number)


def _tensors_of(handle: Tensor) -> Mapping[str, Mapping[str, Any]]:
    if int(handle) not in _resident:
        raise NotImplementedError("want no saved_tensors_hooks that copy tensors around calls in a session")
    return _resident[int(handle)]


def _run_in_session(ctx: Any, bound: Bound, inputs: Dict[str, Tensor]) -> Dict[str, Tensor]:
    """A call of a session: what its gradient takes stays there."""
    session: Session = ctx.session
    given = {name: session.tensor(tensor) for name, tensor in inputs.items()}
    results = session.execute(bound.operator.name, given, bound.attributes)
    ctx.save_for_backward(_handle_of({"input": given, "output": {name: tensor for name, tensor in results.items() if name in bound.kept}}))
    fetched = session._fetched({name: tensor for name, tensor in results.items() if not bound.stays(name)})
    return {name: to_torch(fetched[name]) if name in fetched else torch.empty(0) for name in results}


def reduced(gradient: Tensor, shape: Any, dtype: Any) -> Tensor:
    """The gradient of a tensor of this shape that was broadcast: summed over what was."""
    return gradient.sum_to_size(shape).reshape(shape).to(dtype)


def run(client: Client, op: str, inputs: Mapping[str, Optional[Tensor]], attributes: Optional[Mapping[str, Any]] = None) -> List[Tensor]:
    """The operator's outputs, not differentiable: for gradients that are written out."""
    return [to_torch(array) for array in client.execute(op, inputs, dict(attributes or {})).values()]
