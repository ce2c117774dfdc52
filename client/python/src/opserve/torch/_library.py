"""`opserve::execute`, an operator of PyTorch's library: a call that torch.compile keeps in its graphs."""

from __future__ import annotations

import json
from typing import Any, List, Mapping, Sequence, Tuple

import numpy as np
import torch

from .._arrays import Spec
from .._dtypes import BFLOAT16
from . import _autograd
from ._autograd import Bound, Tensor, first_order, reduced, to_torch
from ._client import current

_SCHEMA = "(str op, str[] names, Tensor[] inputs, str attributes) -> Tensor[]"


def _execute(op: str, inputs: Mapping[str, Tensor], attributes: Mapping[str, Any]) -> Tuple[Tensor, ...]:
    """An operator's outputs as of opserve.torch.apply(), of tensors that have no numbers yet."""
    outputs = torch.ops.opserve.execute(op, list(inputs), list(inputs.values()), json.dumps(attributes))
    return tuple(outputs)


def _numbers(op: str, names: List[str], inputs: Sequence[Tensor], attributes: str) -> List[Tensor]:
    result = current().client.execute(op, dict(zip(names, inputs)), json.loads(attributes))
    return [to_torch(np.asarray(array)) for array in result.values()]


def _shapes(op: str, names: List[str], inputs: Sequence[Tensor], attributes: str) -> List[Tensor]:
    """What phase one says of the outputs. The shapes of the inputs become constants of the graph."""
    specs = {name: Spec(tuple(int(extent) for extent in tensor.shape), _numpy_dtype(tensor.dtype)) for name, tensor in zip(names, inputs)}
    plan = current().client.plan(op, specs, json.loads(attributes))
    return [torch.empty(spec.shape, dtype=_torch_dtype(spec.dtype)) for spec in plan.outputs.values()]


def _numpy_dtype(dtype: Any) -> Any:
    return BFLOAT16 if dtype == torch.bfloat16 else np.dtype(str(dtype).rpartition(".")[2])


def _torch_dtype(dtype: Any) -> Any:
    return torch.bfloat16 if dtype == BFLOAT16 else getattr(torch, dtype.name)


def _keep(ctx: Any, inputs: Tuple[Any, ...], output: List[Tensor]) -> None:
    op, names, tensors, attributes = inputs
    used = current()
    ctx.bound = Bound(used, used.client.operators()[op], tuple(names), json.loads(attributes), ())
    ctx.count = len(tensors)
    ctx.save_for_backward(*tensors, *output)


@first_order
def _gradients(ctx: Any, gradients: List[Tensor]) -> Tuple[Any, ...]:
    bound: Bound = ctx.bound
    saved, outputs = ctx.saved_tensors, [row.name for row in bound.operator.outputs]
    tensors = saved[:ctx.count]
    values = {"input": dict(zip(bound.names, tensors)), "output": dict(zip(outputs, saved[ctx.count:])),
              "output_gradient": dict(zip(outputs, gradients))}
    wanted = dict(zip(bound.names, ctx.needs_input_grad[2]))
    inputs, attributes = bound.gradient_call(values, wanted)
    given = {name: tensor for name, tensor in inputs.items() if tensor is not None}
    gradient = bound.operator.schema.gradient
    names = [row.name for row in bound.used.client.operators()[gradient.op].outputs]
    results = dict(zip(names, _execute(gradient.op, given, attributes)))
    made = {row.input: results[row.name] for row in gradient.outputs if wanted.get(row.input)}
    return None, None, [reduced(made[name], tensor.shape, tensor.dtype) if name in made else None
                        for name, tensor in zip(bound.names, tensors)], None


def register() -> None:
    """From now on torch.compile keeps calls in its graphs, as `opserve::execute`. Needs PyTorch 2.4; takes seconds.

    Compiled calls go by themselves, also with a session. Matrix products, sums, arithmetic, `embedding` and `interpolate` are still called
    between graphs.
    """
    if not hasattr(torch.library, "custom_op"):
        raise NotImplementedError(f"register() needs PyTorch 2.4 or newer, this is {torch.__version__}")
    if _autograd.in_graph is None:
        operator = torch.library.custom_op("opserve::execute", _numbers, mutates_args=(), schema=_SCHEMA)
        operator.register_fake(_shapes)
        operator.register_autograd(_gradients, setup_context=_keep)
        torch.compiler.allow_in_graph(_autograd.apply)
        _autograd.in_graph = _execute
