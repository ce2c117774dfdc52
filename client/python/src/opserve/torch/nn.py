"""Modules of torch.nn whose forward runs on a server, and what holds them: `import opserve.torch.nn as nn`.

A module here is a subclass of PyTorch's of the same name: same arguments, same state_dict. What torch.nn has besides, layers that no
server computes, is not here, but for the containers of LOCAL, which compute nothing.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional

import torch
from torch import nn

from . import functional as F
from ._autograd import Tensor

LOCAL = ["Flatten", "Identity", "Module", "ModuleDict", "ModuleList", "Parameter", "ParameterDict", "ParameterList", "Sequential",
         "Unflatten", "init", "utils"]

Forward = Callable[..., Tensor]


def _batch_norm(module: Any, input: Tensor) -> Tensor:
    module._check_input_dim(input)
    momentum = 0.0 if module.momentum is None else module.momentum
    tracks = module.training and module.track_running_stats
    if tracks and module.num_batches_tracked is not None:
        module.num_batches_tracked.add_(1)
        if module.momentum is None:
            momentum = 1.0 / float(module.num_batches_tracked)
    training = module.training or (module.running_mean is None and module.running_var is None)
    uses = not module.training or module.track_running_stats
    return F.batch_norm(input, module.running_mean if uses else None, module.running_var if uses else None, module.weight,
                        module.bias, training, momentum, module.eps)


def _conv(function: Forward) -> Forward:
    def forward(module: Any, input: Tensor) -> Tensor:
        if module.padding_mode != "zeros":
            raise NotImplementedError(f"padding_mode: want zeros, got {module.padding_mode}")
        return function(input, module.weight, module.bias, module.stride, module.padding, module.dilation, module.groups)

    return forward


def _conv_transpose(function: Forward, dimensions: int) -> Forward:
    def forward(module: Any, input: Tensor, output_size: Optional[List[int]] = None) -> Tensor:
        extra = module._output_padding(input, output_size, module.stride, module.padding, module.kernel_size, dimensions,
                                       module.dilation)
        return function(input, module.weight, module.bias, module.stride, module.padding, extra, module.groups, module.dilation)

    return forward


def _resample(module: Any, input: Tensor) -> Tensor:
    return F.interpolate(input, module.size, module.scale_factor, module.mode, module.align_corners, module.recompute_scale_factor)


def _plain(function: Forward, *names: str) -> Forward:
    """A forward that gives the function its input and then the module's members of these names, by name."""
    def forward(module: Any, input: Tensor) -> Tensor:
        return function(input, **{name: getattr(module, name) for name in names})

    return forward


def _loss(function: Forward, *names: str) -> Forward:
    def forward(module: Any, input: Tensor, target: Tensor) -> Tensor:
        return function(input, target, reduction=module.reduction, **{name: getattr(module, name) for name in names})

    return forward


def _ctc(module: Any, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:
    return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, module.blank, module.reduction, module.zero_infinity)


def _pad(mode: str) -> Forward:
    return lambda module, input: F.pad(input, module.padding, mode=mode)


_FORWARD: Dict[str, Forward] = {
    "ELU": _plain(F.elu, "alpha"), "GELU": _plain(F.gelu, "approximate"), "GLU": _plain(F.glu, "dim"),
    "Hardshrink": _plain(F.hardshrink, "lambd"), "Hardsigmoid": _plain(F.hardsigmoid), "Hardswish": _plain(F.hardswish),
    "Hardtanh": _plain(F.hardtanh, "min_val", "max_val"), "ReLU6": _plain(F.relu6),
    "LeakyReLU": _plain(F.leaky_relu, "negative_slope"), "LogSigmoid": _plain(F.logsigmoid), "Mish": _plain(F.mish),
    "PReLU": _plain(F.prelu, "weight"), "ReLU": _plain(F.relu), "SELU": _plain(F.selu), "Sigmoid": _plain(F.sigmoid),
    "SiLU": _plain(F.silu), "Softplus": _plain(F.softplus, "beta", "threshold"), "Softshrink": _plain(F.softshrink, "lambd"),
    "Tanh": _plain(F.tanh), "Threshold": _plain(F.threshold, "threshold", "value"), "Softmax": _plain(F.softmax, "dim"),
    "LogSoftmax": _plain(F.log_softmax, "dim"),

    "L1Loss": _loss(F.l1_loss), "MSELoss": _loss(F.mse_loss), "SmoothL1Loss": _loss(F.smooth_l1_loss, "beta"),
    "SoftMarginLoss": _loss(F.soft_margin_loss), "KLDivLoss": _loss(F.kl_div, "log_target"),
    "BCELoss": _loss(F.binary_cross_entropy, "weight"),
    "BCEWithLogitsLoss": _loss(F.binary_cross_entropy_with_logits, "weight", "pos_weight"),
    "NLLLoss": _loss(F.nll_loss, "weight", "ignore_index"),
    "CrossEntropyLoss": _loss(F.cross_entropy, "weight", "ignore_index", "label_smoothing"), "CTCLoss": _ctc,

    "GroupNorm": _plain(F.group_norm, "num_groups", "weight", "bias", "eps"),
    "LayerNorm": _plain(F.layer_norm, "normalized_shape", "weight", "bias", "eps"),
    "RMSNorm": _plain(F.rms_norm, "normalized_shape", "weight", "eps"),
    "BatchNorm1d": _batch_norm, "BatchNorm2d": _batch_norm, "BatchNorm3d": _batch_norm,
    "Linear": _plain(F.linear, "weight", "bias"), "Conv1d": _conv(F.conv1d), "Conv2d": _conv(F.conv2d), "Conv3d": _conv(F.conv3d),
    "ConvTranspose1d": _conv_transpose(F.conv_transpose1d, 1), "ConvTranspose2d": _conv_transpose(F.conv_transpose2d, 2),
    "ConvTranspose3d": _conv_transpose(F.conv_transpose3d, 3),
    "MaxPool2d": _plain(F.max_pool2d, "kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices"),
    "AvgPool2d": _plain(F.avg_pool2d, "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"),
    "AdaptiveAvgPool2d": _plain(F.adaptive_avg_pool2d, "output_size"),
    "ReflectionPad1d": _pad("reflect"), "ReflectionPad2d": _pad("reflect"), "ReplicationPad1d": _pad("replicate"),
    "ReplicationPad2d": _pad("replicate"), "Upsample": _resample, "UpsamplingNearest2d": _resample,
    "UpsamplingBilinear2d": _resample,
    "Embedding": _plain(F.embedding, "weight", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse"),
}

__all__ = [*_FORWARD, *LOCAL]


def _made(name: str, forward: Forward) -> Any:
    base = getattr(nn, name, None)  # RMSNorm is younger than the oldest PyTorch
    if base is None:
        return None
    return type(name, (base,), {"forward": forward, "__module__": __name__, "__doc__": f"torch.nn.{name}, computed on a server."})


_MADE = {name: made for name, made in ((name, _made(name, forward)) for name, forward in _FORWARD.items()) if made is not None}
globals().update(_MADE, **{name: getattr(nn, name) for name in LOCAL})


def __getattr__(name: str) -> Any:
    raise AttributeError(f"no server computes torch.nn.{name}: take it from torch.nn to compute it here"
                         if hasattr(torch.nn, name) else f"torch.nn has no {name!r}")
