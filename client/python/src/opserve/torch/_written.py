"""Gradients that no schema tells: products, arithmetic, embeddings and upsampling, by the operators that compute them.

A gradient is computed by the client of the forward call."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import torch

from .._client import Client
from ._autograd import Tensor, first_order, reduced, run
from ._client import current

Gradients = Tuple[Optional[Tensor], ...]


def _product(client: Client, a: Tensor, b: Tensor) -> Tensor:
    return run(client, "Matmul", {"self": a, "mat2": b})[0]


class Matmul(torch.autograd.Function):
    """The product of two tensors of rank 2 or more."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        ctx.client = current().client
        ctx.save_for_backward(a, b)
        return _product(ctx.client, a, b)

    @staticmethod
    @first_order
    def backward(ctx: Any, gradient: Tensor) -> Gradients:
        a, b = ctx.saved_tensors
        return (reduced(_product(ctx.client, gradient, b.mT), a.shape, a.dtype) if ctx.needs_input_grad[0] else None,
                reduced(_product(ctx.client, a.mT, gradient), b.shape, b.dtype) if ctx.needs_input_grad[1] else None)


class Addmm(torch.autograd.Function):
    """beta * input + alpha * mat1 @ mat2."""

    @staticmethod
    def forward(ctx: Any, addend: Tensor, mat1: Tensor, mat2: Tensor, beta: float, alpha: float) -> Tensor:
        ctx.client = current().client
        ctx.save_for_backward(addend, mat1, mat2)
        ctx.beta, ctx.alpha = beta, alpha
        return run(ctx.client, "Addmm", {"self": addend, "mat1": mat1, "mat2": mat2}, {"beta": beta, "alpha": alpha})[0]

    @staticmethod
    @first_order
    def backward(ctx: Any, gradient: Tensor) -> Gradients:
        addend, mat1, mat2 = ctx.saved_tensors
        return (reduced(gradient * ctx.beta, addend.shape, addend.dtype) if ctx.needs_input_grad[0] else None,
                _product(ctx.client, gradient, mat2.mT) * ctx.alpha if ctx.needs_input_grad[1] else None,
                _product(ctx.client, mat1.mT, gradient) * ctx.alpha if ctx.needs_input_grad[2] else None, None, None)


class Sum(torch.autograd.Function):
    """Add and Sub: input ± alpha * other."""

    @staticmethod
    def forward(ctx: Any, op: str, a: Tensor, b: Tensor, alpha: float) -> Tensor:
        ctx.client = current().client
        ctx.save_for_backward(a, b)
        ctx.factor = alpha if op == "Add" else -alpha
        return run(ctx.client, op, {"self": a, "other": b}, {"alpha": alpha})[0]

    @staticmethod
    @first_order
    def backward(ctx: Any, gradient: Tensor) -> Gradients:
        a, b = ctx.saved_tensors
        return (None, reduced(gradient, a.shape, a.dtype) if ctx.needs_input_grad[1] else None,
                reduced(gradient * ctx.factor, b.shape, b.dtype) if ctx.needs_input_grad[2] else None, None)


class Mul(torch.autograd.Function):
    """The product of elements."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        ctx.client = current().client
        ctx.save_for_backward(a, b)
        return run(ctx.client, "Mul", {"self": a, "other": b})[0]

    @staticmethod
    @first_order
    def backward(ctx: Any, gradient: Tensor) -> Gradients:
        client: Client = ctx.client
        a, b = ctx.saved_tensors
        return (reduced(run(client, "Mul", {"self": gradient, "other": b})[0], a.shape, a.dtype) if ctx.needs_input_grad[0] else None,
                reduced(run(client, "Mul", {"self": gradient, "other": a})[0], b.shape, b.dtype) if ctx.needs_input_grad[1] else None)


class Div(torch.autograd.Function):
    """The quotient of elements."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        ctx.client = current().client
        quotient = run(ctx.client, "Div", {"self": a, "other": b})[0]
        ctx.save_for_backward(a, b, quotient)
        return quotient

    @staticmethod
    @first_order
    def backward(ctx: Any, gradient: Tensor) -> Gradients:
        a, b, quotient = ctx.saved_tensors
        client: Client = ctx.client
        of_a = run(client, "Div", {"self": gradient, "other": b})[0]
        return (reduced(of_a, a.shape, a.dtype) if ctx.needs_input_grad[0] else None,
                reduced(-run(client, "Mul", {"self": of_a, "other": quotient})[0], b.shape, b.dtype) if ctx.needs_input_grad[1] else None)


class Embedding(torch.autograd.Function):
    """Rows of a matrix."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, indices: Tensor, padding_index: int, by_frequency: bool) -> Tensor:
        ctx.client = current().client
        ctx.save_for_backward(indices)
        ctx.attributes = {"num_weights": weight.shape[0], "padding_idx": padding_index, "scale_grad_by_freq": by_frequency}
        return run(ctx.client, "Embedding", {"weight": weight, "indices": indices})[0]

    @staticmethod
    @first_order
    def backward(ctx: Any, gradient: Tensor) -> Gradients:
        inputs = {"grad": gradient, "indices": ctx.saved_tensors[0]}
        return run(ctx.client, "EmbeddingDenseBackward", inputs, ctx.attributes)[0], None, None, None


class Upsample(torch.autograd.Function):
    """UpsampleNearest2d and UpsampleBilinear2d."""

    @staticmethod
    def forward(ctx: Any, op: str, tensor: Tensor, attributes: "dict[str, Any]", of_gradient: "dict[str, Any]") -> Tensor:
        ctx.client = current().client
        ctx.op, ctx.attributes = op, {**attributes, **of_gradient, "input_size": list(tensor.shape)}
        return run(ctx.client, op, {"self": tensor}, attributes)[0]

    @staticmethod
    @first_order
    def backward(ctx: Any, gradient: Tensor) -> Gradients:
        return None, run(ctx.client, ctx.op + "Backward", {"grad_out": gradient}, ctx.attributes)[0], None, None
