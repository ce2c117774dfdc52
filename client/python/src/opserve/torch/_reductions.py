"""Sums and means, with the signatures of torch.sum and torch.mean."""

from __future__ import annotations

import math
from typing import Any, List, Optional, Sequence, Union

import torch

from ._autograd import Tensor, call, first_order, run
from ._client import current

__all__ = ["mean", "sum"]

Dimensions = Union[None, int, Sequence[int]]
_DTYPES = {torch.float32: "float32", torch.float16: "float16", torch.bfloat16: "bfloat16", None: "self"}


class _Reduction(torch.autograd.Function):
    """ReduceSum and Mean: their gradient is the incoming one, spread out."""

    @staticmethod
    def forward(ctx: Any, op: str, tensor: Tensor, dims: List[int], keep: bool, dtype: str) -> Tensor:
        every = [dim % max(tensor.dim(), 1) for dim in dims] or list(range(tensor.dim()))
        ctx.shape, ctx.dtype = tensor.shape, tensor.dtype
        ctx.kept = [1 if dim in every else extent for dim, extent in enumerate(tensor.shape)]
        ctx.count = math.prod(tensor.shape[dim] for dim in every) if op == "Mean" and tensor.dim() else 1
        names = ("dim", "keep_dim") if op == "Mean" else ("dims", "keep_dims")
        return run(current().client, op, {"self": tensor}, {names[0]: dims, names[1]: keep, "dtype": dtype})[0]

    @staticmethod
    @first_order
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return None, (gradient.reshape(ctx.kept) / ctx.count).expand(ctx.shape).to(ctx.dtype), None, None, None


def _reduced(op: str, input: Tensor, dim: Dimensions, keepdim: bool, dtype: Any) -> Tensor:
    if dtype not in _DTYPES:
        raise NotImplementedError(f"want float32, float16 or bfloat16 as dtype, got {dtype}")
    dims = [] if dim is None else [dim] if isinstance(dim, int) else list(dim)
    return call(_Reduction, op, input, dims, keepdim, _DTYPES[dtype])


def sum(input: Tensor, dim: Dimensions = None, keepdim: bool = False, *, dtype: Optional[Any] = None) -> Tensor:
    """The sum over some dimensions, or over all."""
    return _reduced("ReduceSum", input, dim, keepdim, dtype)


def mean(input: Tensor, dim: Dimensions = None, keepdim: bool = False, *, dtype: Optional[Any] = None) -> Tensor:
    """The mean over some dimensions, or over all."""
    return _reduced("Mean", input, dim, keepdim, dtype)
