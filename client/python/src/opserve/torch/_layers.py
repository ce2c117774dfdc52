"""Norms, products, pools, pads and what else layers are made of, with the signatures of torch.nn.functional."""

from __future__ import annotations

import math
from typing import Any, List, Optional, Sequence, Tuple, Union

import torch

from ._autograd import Tensor, apply, call
from ._written import Addmm, Div, Embedding, Matmul, Mul, Sum, Upsample

__all__ = ["adaptive_avg_pool2d", "add", "addmm", "avg_pool2d", "batch_norm", "bmm", "conv1d", "conv2d", "conv3d",
           "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "div", "embedding", "group_norm", "interpolate", "layer_norm",
           "linear", "matmul", "max_pool2d", "mul", "pad", "rms_norm", "sub"]

Extents = Union[int, Sequence[int]]


def _list(value: Extents, count: int = 0) -> List[int]:
    values = [int(value)] if isinstance(value, int) else [int(item) for item in value]
    return values * count if count and len(values) == 1 else values


# ---- norms

def group_norm(input: Tensor, num_groups: int, weight: Optional[Tensor] = None, bias: Optional[Tensor] = None,
               eps: float = 1e-5) -> Tensor:
    batch, channels = input.shape[:2]
    sizes = {"N": batch, "C": channels, "HxW": input[0, 0].numel() if batch and channels else 0, "group": num_groups}
    return apply("GroupNorm", {"self": input, "gamma": weight, "beta": bias}, {**sizes, "eps": eps})[0]


def layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Optional[Tensor] = None, bias: Optional[Tensor] = None,
               eps: float = 1e-5) -> Tensor:
    return apply("LayerNorm", {"input": input, "weight": weight, "bias": bias},
                 {"normalized_shape": _list(normalized_shape), "eps": eps})[0]


def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Optional[Tensor] = None,
             eps: Optional[float] = None) -> Tensor:
    gamma = torch.ones(*normalized_shape, dtype=input.dtype) if weight is None else weight
    return apply("RmsNorm", {"x": input, "gamma": gamma}, {"epsilon": torch.finfo(input.dtype).eps if eps is None else eps})[0]


def batch_norm(input: Tensor, running_mean: Optional[Tensor], running_var: Optional[Tensor], weight: Optional[Tensor] = None,
               bias: Optional[Tensor] = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """Changes running_mean and running_var in training, as PyTorch's does."""
    if training and math.prod(extent for dim, extent in enumerate(input.shape) if dim != 1) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.size()}")
    running = {"running_mean": running_mean, "running_var": running_var}
    if training:  # they change below, and autograd wants what it keeps to stay
        running = {name: None if value is None else value.clone() for name, value in running.items()}
    output, _, _, mean, variance = apply("BatchNorm", {"input": input, "weight": weight, "bias": bias, **running},
                                         {"training": training, "momentum": momentum, "eps": eps})
    if training and running_mean is not None and running_var is not None:
        with torch.no_grad():
            running_mean.copy_(mean)
            running_var.copy_(variance)
    return output


# ---- products

def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The product of matrices, vectors and batches of them."""
    a = input.unsqueeze(0) if input.dim() == 1 else input
    b = other.unsqueeze(1) if other.dim() == 1 else other
    product: Tensor = call(Matmul, a, b)
    product = product.squeeze(-1) if other.dim() == 1 else product
    return product.squeeze(-1 if other.dim() == 1 else -2) if input.dim() == 1 else product


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products of two batches of matrices."""
    if input.dim() != 3 or mat2.dim() != 3:
        raise ValueError(f"bmm: want two batches of matrices, got {tuple(input.shape)} and {tuple(mat2.shape)}")
    return matmul(input, mat2)


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta * input + alpha * mat1 @ mat2."""
    return call(Addmm, input, mat1, mat2, beta, alpha)


def linear(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Tensor:
    if bias is None:
        return matmul(input, weight.mT)
    rows = input.reshape(-1, input.shape[-1])
    return addmm(bias, rows, weight.mT).reshape(*input.shape[:-1], weight.shape[0])


def _convolution(dimensions: int, input: Tensor, weight: Tensor, bias: Optional[Tensor], **attributes: Any) -> Tensor:
    of_batch = input.dim() == dimensions + 2
    out = apply("Convolution", {"input": input if of_batch else input.unsqueeze(0), "weight": weight, "bias": bias}, attributes)[0]
    return out if of_batch else out.squeeze(0)


def _padding(padding: Union[str, Extents], kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> List[int]:
    if padding == "valid":
        return [0] * len(kernel)
    if padding != "same":
        return _list(padding, len(kernel))  # type: ignore[arg-type]
    both = [(extent - 1) * step for extent, step in zip(kernel, dilation)]
    if any(step != 1 for step in stride) or any(total % 2 for total in both):
        raise NotImplementedError("padding='same': want stride 1, and kernels that leave the same on either side")
    return [total // 2 for total in both]


def _conv(dimensions: int, input: Tensor, weight: Tensor, bias: Optional[Tensor], stride: Extents, padding: Union[str, Extents],
          dilation: Extents, groups: int) -> Tensor:
    steps, widths = _list(stride, dimensions), _list(dilation, dimensions)
    return _convolution(dimensions, input, weight, bias, stride=steps, dilation=widths, groups=groups, transposed=False,
                        padding=_padding(padding, weight.shape[2:], steps, widths), output_padding=[0] * dimensions)


def conv1d(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None, stride: Extents = 1, padding: Union[str, Extents] = 0,
           dilation: Extents = 1, groups: int = 1) -> Tensor:
    return _conv(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None, stride: Extents = 1, padding: Union[str, Extents] = 0,
           dilation: Extents = 1, groups: int = 1) -> Tensor:
    return _conv(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None, stride: Extents = 1, padding: Union[str, Extents] = 0,
           dilation: Extents = 1, groups: int = 1) -> Tensor:
    return _conv(3, input, weight, bias, stride, padding, dilation, groups)


def _conv_transpose(dimensions: int, input: Tensor, weight: Tensor, bias: Optional[Tensor], stride: Extents, padding: Extents,
                    output_padding: Extents, groups: int, dilation: Extents) -> Tensor:
    return _convolution(dimensions, input, weight, bias, stride=_list(stride, dimensions), padding=_list(padding, dimensions),
                        dilation=_list(dilation, dimensions), output_padding=_list(output_padding, dimensions), groups=groups,
                        transposed=True)


def conv_transpose1d(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None, stride: Extents = 1, padding: Extents = 0,
                     output_padding: Extents = 0, groups: int = 1, dilation: Extents = 1) -> Tensor:
    return _conv_transpose(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None, stride: Extents = 1, padding: Extents = 0,
                     output_padding: Extents = 0, groups: int = 1, dilation: Extents = 1) -> Tensor:
    return _conv_transpose(2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None, stride: Extents = 1, padding: Extents = 0,
                     output_padding: Extents = 0, groups: int = 1, dilation: Extents = 1) -> Tensor:
    return _conv_transpose(3, input, weight, bias, stride, padding, output_padding, groups, dilation)


# ---- planes

def max_pool2d(input: Tensor, kernel_size: Extents, stride: Optional[Extents] = None, padding: Extents = 0, dilation: Extents = 1,
               ceil_mode: bool = False, return_indices: bool = False) -> Union[Tensor, Tuple[Tensor, Tensor]]:
    out, indices = apply("MaxPool2dWithIndices", {"self": input}, {
        "kernel_size": _list(kernel_size), "stride": _list(kernel_size if stride is None else stride), "padding": _list(padding),
        "dilation": _list(dilation), "ceil_mode": ceil_mode}, ["indices"] if return_indices else [])
    return (out, indices.to(torch.int64)) if return_indices else out


def avg_pool2d(input: Tensor, kernel_size: Extents, stride: Optional[Extents] = None, padding: Extents = 0, ceil_mode: bool = False,
               count_include_pad: bool = True, divisor_override: Optional[int] = None) -> Tensor:
    return apply("AvgPool2d", {"self": input}, {
        "kernel_size": _list(kernel_size), "stride": _list(kernel_size if stride is None else stride), "padding": _list(padding),
        "ceil_mode": ceil_mode, "count_include_pad": count_include_pad, "divisor_override": divisor_override or 0})[0]


def adaptive_avg_pool2d(input: Tensor, output_size: "int | Sequence[Optional[int]]") -> Tensor:
    asked = (output_size, output_size) if isinstance(output_size, int) else output_size
    sizes = [have if want is None else want for want, have in zip(asked, input.shape[-2:])]
    return apply("AdaptiveAvgPool2d", {"self": input}, {"output_size": sizes})[0]


_PADS = {"reflect": "ReflectionPad", "replicate": "ReplicationPad"}


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: Optional[float] = None) -> Tensor:
    """Of modes reflect and replicate, in 1 or 2 dimensions."""
    if mode not in _PADS or len(pad) not in (2, 4):
        raise NotImplementedError(f"pad: want reflect or replicate in 1 or 2 dimensions, got {mode} in {len(pad) // 2}")
    return apply(f"{_PADS[mode]}{len(pad) // 2}d", {"self": input}, {"padding": _list(pad)})[0]


def interpolate(input: Tensor, size: Optional[Extents] = None, scale_factor: "Optional[float | Sequence[float]]" = None,
                mode: str = "nearest", align_corners: Optional[bool] = None, recompute_scale_factor: Optional[bool] = None,
                antialias: bool = False) -> Tensor:
    """Of modes nearest and bilinear, of planes."""
    if mode not in ("nearest", "bilinear") or input.dim() != 4 or antialias or recompute_scale_factor:
        raise NotImplementedError(f"interpolate: want nearest or bilinear of a batch of planes, got {mode} of {tuple(input.shape)}")
    scales = [0.0, 0.0]
    if size is not None:
        sizes = _list(size, 2)
    elif scale_factor is not None:
        scales = [float(scale_factor)] * 2 if isinstance(scale_factor, (int, float)) else [float(item) for item in scale_factor]
        sizes = [int(extent * scale) for extent, scale in zip(input.shape[-2:], scales)]
    else:
        raise ValueError("interpolate: want size or scale_factor, got neither")
    factors = {"scales_h": scales[0], "scales_w": scales[1]}
    if mode == "nearest":
        if any(scale and round(scale * extent) != scale * extent for scale, extent in zip(scales, input.shape[-2:])):
            raise NotImplementedError("interpolate: want a scale_factor that gives whole extents for mode nearest; or give size")
        return call(Upsample, "UpsampleNearest2d", input, {"output_size": sizes}, {})
    attributes = {"output_size": sizes, "align_corners": bool(align_corners), **factors}
    return call(Upsample, "UpsampleBilinear2d", input, attributes, {})


# ---- what is left

def embedding(input: Tensor, weight: Tensor, padding_idx: Optional[int] = None, max_norm: Optional[float] = None,
              norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    if max_norm is not None or sparse:
        raise NotImplementedError("embedding: want neither max_norm nor sparse gradients")
    padding = -1 if padding_idx is None else padding_idx % weight.shape[0]
    return call(Embedding, weight, input, padding, scale_grad_by_freq)


def _tensor(value: Any, beside: Tensor) -> Tensor:
    return value if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=beside.dtype)


def _scaled(function: Any, input: Tensor, other: Any) -> Tensor:
    """As PyTorch, which rounds a number beside half precision first where it is added, and not where it is a factor."""
    if isinstance(other, torch.Tensor) or input.dtype not in (torch.float16, torch.bfloat16):
        return call(function, input, _tensor(other, input))
    return call(function, input, torch.tensor(other, dtype=torch.float32)).to(input.dtype)


def add(input: Tensor, other: Any, *, alpha: float = 1) -> Tensor:
    """input + alpha * other."""
    return call(Sum, "Add", input, _tensor(other, input), alpha)


def sub(input: Tensor, other: Any, *, alpha: float = 1) -> Tensor:
    """input - alpha * other."""
    return call(Sum, "Sub", input, _tensor(other, input), alpha)


def mul(input: Tensor, other: Any) -> Tensor:
    """input * other."""
    return _scaled(Mul, input, other)


def div(input: Tensor, other: Any) -> Tensor:
    """input / other."""
    return _scaled(Div, input, other)
