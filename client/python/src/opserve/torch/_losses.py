"""Losses, with the signatures of torch.nn.functional."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

import torch
from torch.nn import _reduction

from ._autograd import Tensor, apply

__all__ = ["binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "ctc_loss", "kl_div", "l1_loss", "mse_loss",
           "nll_loss", "smooth_l1_loss", "soft_margin_loss"]

Lengths = Union[Tensor, Sequence[int]]


def _reduction_of(size_average: Optional[bool], reduce: Optional[bool], reduction: str) -> str:
    if size_average is None and reduce is None:
        return reduction
    legacy: str = _reduction.legacy_get_string(size_average, reduce)
    return legacy


def _of_elements(op: str, input: Tensor, target: Tensor, reduction: str, weights: "Optional[dict[str, Any]]" = None,
                 **attributes: Any) -> Tensor:
    return apply(op, {"self": input, "target": target, **(weights or {})}, {"reduction": reduction, **attributes})[0]


def _check_target(function: str, target: Tensor, shape: Sequence[int]) -> None:
    """As PyTorch: servers would broadcast it, or take its elements in order."""
    if tuple(target.shape) != tuple(shape):
        raise ValueError(f"{function}: target: want the shape {tuple(shape)}, got {tuple(target.shape)}")


def _shape_of_classes(input: Tensor) -> Sequence[int]:
    """That of a target: a class in place of the scores of all."""
    return [*input.shape[:1], *input.shape[2:]] if input.dim() > 1 else []


def l1_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
            reduction: str = "mean") -> Tensor:
    return _of_elements("L1Loss", input, target, _reduction_of(size_average, reduce, reduction))


def mse_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
             reduction: str = "mean") -> Tensor:
    return _of_elements("MseLoss", input, target, _reduction_of(size_average, reduce, reduction))


def smooth_l1_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                   reduction: str = "mean", beta: float = 1.0) -> Tensor:
    return _of_elements("SmoothL1Loss", input, target, _reduction_of(size_average, reduce, reduction), beta=beta)


def soft_margin_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                     reduction: str = "mean") -> Tensor:
    return _of_elements("SoftMarginLoss", input, target, _reduction_of(size_average, reduce, reduction))


def kl_div(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
           reduction: str = "mean", log_target: bool = False) -> Tensor:
    return _of_elements("KlDiv", input, target, _reduction_of(size_average, reduce, reduction), log_target=log_target)


def binary_cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
                         reduce: Optional[bool] = None, reduction: str = "mean") -> Tensor:
    _check_target("binary_cross_entropy", target, input.shape)
    return _of_elements("BinaryCrossEntropy", input, target, _reduction_of(size_average, reduce, reduction), {"weight": weight})


def binary_cross_entropy_with_logits(
        input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
        reduce: Optional[bool] = None, reduction: str = "mean", pos_weight: Optional[Tensor] = None) -> Tensor:
    _check_target("binary_cross_entropy_with_logits", target, input.shape)
    return _of_elements("BinaryCrossEntropyWithLogits", input, target, _reduction_of(size_average, reduce, reduction),
                        {"weight": weight, "pos_weight": pos_weight})


def nll_loss(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
             ignore_index: int = -100, reduce: Optional[bool] = None, reduction: str = "mean") -> Tensor:
    _check_target("nll_loss", target, _shape_of_classes(input))
    op, shape = "NLLLoss", target.shape
    if input.dim() > 2:  # (N, C, …): pixels in one row
        op = "NLLLoss2d"
        input, target = input.reshape(*input.shape[:2], 1, -1), target.reshape(target.shape[0], 1, -1)
    loss = _of_elements(op, input, target, _reduction_of(size_average, reduce, reduction), {"weight": weight},
                        ignore_index=ignore_index)
    return loss.reshape(shape) if loss.dim() else loss


def cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
                  ignore_index: int = -100, reduce: Optional[bool] = None, reduction: str = "mean",
                  label_smoothing: float = 0.0) -> Tensor:
    if target.is_floating_point():
        raise NotImplementedError("cross_entropy: want classes as target, got their probabilities")
    _check_target("cross_entropy", target, _shape_of_classes(input))
    shape, classes = target.shape, input.shape[0 if input.dim() == 1 else 1]
    rows = input.movedim(1, -1).reshape(-1, classes) if input.dim() > 1 else input.reshape(1, -1)
    loss = _of_elements("CrossEntropyLoss", rows, target.reshape(-1), _reduction_of(size_average, reduce, reduction),
                        {"weight": weight}, ignore_index=ignore_index, label_smoothing=label_smoothing)
    return loss.reshape(shape) if loss.dim() else loss


def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Lengths, target_lengths: Lengths, blank: int = 0,
             reduction: str = "mean", zero_infinity: bool = False) -> Tensor:
    """Its gradient is that of the logits before log_softmax, as PyTorch's is."""
    of_batch = log_probs.dim() == 3
    steps, labels = (torch.as_tensor(lengths).reshape(-1).tolist() for lengths in (input_lengths, target_lengths))
    if not of_batch:
        log_probs = log_probs.unsqueeze(1)
        targets = targets.reshape(1, -1)
    loss = apply("CtcLoss", {"log_probs": log_probs, "targets": targets},
                 {"input_lengths": steps, "target_lengths": labels, "blank": blank, "zero_infinity": zero_infinity})[0]
    if zero_infinity:
        loss = torch.where(loss == float("inf"), torch.zeros_like(loss), loss)
    if reduction == "mean":
        return (loss / torch.tensor(labels, dtype=loss.dtype).clamp(min=1)).mean()
    if reduction == "sum":
        return loss.sum()
    return loss if of_batch else loss.reshape(())
