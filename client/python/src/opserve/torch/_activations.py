"""Activations, with the signatures of torch.nn.functional. `inplace=True` gives a new tensor, as nothing on a server is in place."""

from __future__ import annotations

from typing import Any, Optional

from ._autograd import Tensor, apply

__all__ = ["elu", "gelu", "glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "log_softmax", "logsigmoid",
           "mish", "prelu", "relu", "relu6", "selu", "sigmoid", "silu", "softmax", "softplus", "softshrink", "tanh", "threshold"]


def _of(op: str, input: Tensor, **attributes: Any) -> Tensor:
    return apply(op, {"self": input}, attributes)[0]


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    return _of("Elu", input, alpha=alpha)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    return _of("GeluV2", input, approximate=approximate)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    return _of("Glu", input, dim=dim)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    return _of("Hardshrink", input, lambd=lambd)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    return _of("Hardsigmoid", input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    return _of("Hardswish", input)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    return _of("Hardtanh", input, clip_value_min=min_val, clip_value_max=max_val)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    return hardtanh(input, 0.0, 6.0)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    return _of("LeakyRelu", input, negative_slope=negative_slope)


def logsigmoid(input: Tensor) -> Tensor:
    return _of("LogSigmoid", input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    return _of("Mish", input)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    return apply("Prelu", {"self": input, "weight": weight})[0]


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    return _of("Relu", input)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    return _of("Selu", input)


def sigmoid(input: Tensor) -> Tensor:
    return _of("Sigmoid", input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    return _of("Silu", input)


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    return _of("Softplus", input, beta=beta, threshold=threshold)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    return _of("Softshrink", input, lambd=lambd)


def tanh(input: Tensor) -> Tensor:
    return _of("Tanh", input)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    return _of("Threshold", input, threshold=threshold, value=value)


def _along(op: str, input: Tensor, dim: Optional[int], dtype: Any) -> Tensor:
    if dim is None:  # as PyTorch's legacy does, without its warning
        dim = 0 if input.dim() in (0, 1, 3) else 1
    return _of(op, input if dtype is None else input.to(dtype), dim=dim)


def softmax(input: Tensor, dim: Optional[int] = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    return _along("Softmax", input, dim, dtype)


def log_softmax(input: Tensor, dim: Optional[int] = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    return _along("LogSoftmax", input, dim, dtype)
