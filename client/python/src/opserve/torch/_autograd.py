"""Operators as differentiable functions of PyTorch, made from what a schema says of its gradient."""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, TypeVar

import numpy as np
import torch

from .._arrays import Array
from .._attributes import value_of
from .._client import Client
from .._dtypes import BFLOAT16
from .._requests import Result
from .._schema import Operator
from ._client import current

T = TypeVar("T")
Tensor = Any  # torch.Tensor; PyTorch may be newer than the type checker


def first_order(backward: Callable[..., T]) -> Callable[..., T]:
    """A backward() that refuses create_graph=True: what it gives has no gradient of its own."""

    def checked(ctx: Any, *gradients: Tensor) -> T:
        if torch.is_grad_enabled():
            raise NotImplementedError("opserve has no second derivatives: leave out create_graph=True")
        return backward(ctx, *gradients)

    return checked


def to_torch(array: Array) -> Tensor:
    """A result as a tensor of its own."""
    if array.dtype == BFLOAT16:
        return torch.from_numpy(np.array(array).view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(np.array(array))


@dataclass
class _Bound:
    """An operator with its attributes and the names of its inputs."""

    client: Client
    operator: Operator
    names: Tuple[str, ...]
    attributes: Dict[str, Any]

    def gradient_attributes(self) -> Dict[str, Any]:
        """Those of the gradient's operator: the forward's of one name, then what the schema says."""
        defaults = {row.name: row.default for row in self.operator.attributes if not row.required}
        forward = {**defaults, **{name: value for name, value in self.attributes.items() if value is not None}}
        gradient = self.operator.schema.gradient
        known = {row.name for row in self.client.operators()[gradient.op].attributes}
        attributes = {name: value for name, value in forward.items() if name in known}
        for row in gradient.attributes:
            attributes[row.name] = forward.get(row.attribute) if row.WhichOneof("source") == "attribute" else value_of(row.value)
        return attributes


def eager(function: Callable[..., T]) -> Callable[..., T]:
    """torch.compile leaves the function and all that it calls as they are, and compiles what is before and behind. As
    torch.compiler.disable, whose import takes seconds, does: here it is imported by who compiles."""
    disabled: List[Callable[..., T]] = []

    @functools.wraps(function)
    def wrapped(*arguments: Any) -> T:
        compiler = sys.modules.get("torch._dynamo")
        if compiler is None:
            return function(*arguments)
        if not disabled:
            disabled.append(compiler.disable(function))
        return disabled[0](*arguments)

    wrapped._torchdynamo_disable = True  # type: ignore[attr-defined]
    return wrapped


@eager
def apply(op: str, inputs: Mapping[str, Optional[Tensor]], attributes: Optional[Mapping[str, Any]] = None) -> Tuple[Tensor, ...]:
    """The operator's outputs, in its order. They are differentiable where its schema has a gradient. NotImplementedError where an
    input wants a gradient that the operator does not have."""
    client = current()
    operator = client.operators()[op]
    given = {name: tensor for name, tensor in inputs.items() if tensor is not None}
    differentiable = {row.input for row in operator.schema.gradient.outputs}
    for name, tensor in given.items():
        if torch.is_grad_enabled() and tensor.requires_grad and name not in differentiable:
            raise NotImplementedError(f"{op} has no gradient with respect to {name}: detach() it")
    bound = _Bound(client, operator, tuple(given), dict(attributes or {}))
    outputs: Tuple[Tensor, ...] = _Function.apply(bound, *given.values())
    return outputs


@eager
def call(function: Any, *arguments: Any) -> Tensor:
    """What an autograd.Function gives."""
    return function.apply(*arguments)


class _Function(torch.autograd.Function):
    """Any operator."""

    @staticmethod
    def forward(ctx: Any, bound: _Bound, *tensors: Tensor) -> Tuple[Tensor, ...]:
        result = bound.client.execute(bound.operator.name, dict(zip(bound.names, tensors)), bound.attributes)
        outputs = tuple(to_torch(array) for array in result.values())
        gradient = bound.operator.schema.gradient
        told = {row.output_gradient for row in gradient.inputs}
        ctx.bound, ctx.names = bound, tuple(result)
        ctx.mark_non_differentiable(*(output for name, output in zip(result, outputs) if name not in told))
        kept = {row.output for row in gradient.inputs}
        ctx.kept = tuple(name for name in result if name in kept)
        ctx.save_for_backward(*tensors, *(output for name, output in zip(result, outputs) if name in kept))
        return outputs

    @staticmethod
    @first_order
    def backward(ctx: Any, *gradients: Tensor) -> Tuple[Optional[Tensor], ...]:
        bound: _Bound = ctx.bound
        gradient = bound.operator.schema.gradient
        saved = ctx.saved_tensors
        forward = dict(zip(bound.names, saved))
        values = {"input": forward, "output": dict(zip(ctx.kept, saved[len(bound.names):])),
                  "output_gradient": dict(zip(ctx.names, gradients))}
        inputs = {}
        for row in gradient.inputs:
            source = row.WhichOneof("source")
            inputs[row.name] = values[source].get(getattr(row, source))
        wanted = dict(zip(bound.names, ctx.needs_input_grad[1:]))
        attributes = bound.gradient_attributes()
        if gradient.output_mask:
            attributes[gradient.output_mask] = [wanted.get(row.input, False) for row in gradient.outputs]
        result = bound.client.execute(gradient.op, inputs, attributes)
        made = {row.input: row.name for row in gradient.outputs}
        return (None, *(_gradient_of(forward[name], result, made.get(name)) if wanted[name] else None for name in bound.names))


def _gradient_of(tensor: Tensor, result: Result, output: Optional[str]) -> Optional[Tensor]:
    """The gradient of an input: summed over what was broadcast, in the input's dtype."""
    if output is None:
        return None
    gradient = to_torch(result[output])
    return reduced(gradient, tensor)


def reduced(gradient: Tensor, tensor: Tensor) -> Tensor:
    """A gradient of a broadcast tensor as one of the tensor."""
    return gradient.sum_to_size(tensor.shape).reshape(tensor.shape).to(tensor.dtype)


def run(op: str, inputs: Mapping[str, Optional[Tensor]], attributes: Optional[Mapping[str, Any]] = None) -> List[Tensor]:
    """The operator's outputs, not differentiable: for gradients that are written out."""
    return [to_torch(array) for array in current().execute(op, inputs, dict(attributes or {})).values()]
