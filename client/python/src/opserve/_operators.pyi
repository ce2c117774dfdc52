# Made by generate_operators.py from the operators of a server; do not edit.

from typing import Any, Awaitable, Callable, Literal, Mapping, Optional, Sequence

from ._arrays import Array
from ._requests import Result
from ._schema import Operator

class Operators:
    def __init__(self, operators: Mapping[str, Operator], call: Callable[..., Any]) -> None: ...
    def __getattr__(self, name: str) -> Callable[..., Any]: ...
    def l1_loss(_ops, /, self: Any, target: Any, *, reduction: Literal['none', 'mean', 'sum'] = 'mean',
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Mean absolute error of self against target."""
    def l1_loss_backward(_ops, /, grad_output: Any, self: Any, target: Any, *,
            reduction: Literal['none', 'mean', 'sum'] = 'mean', out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of L1Loss with respect to self."""
    def smooth_l1_loss(_ops, /, self: Any, target: Any, *, reduction: Literal['none', 'mean', 'sum'] = 'mean',
            beta: float = 1.0, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """Huber-like loss: quadratic near zero, linear beyond beta."""
    def smooth_l1_loss_backward(_ops, /, grad_out: Any, self: Any, target: Any, *,
            reduction: Literal['none', 'mean', 'sum'] = 'mean', beta: float = 1.0, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of SmoothL1Loss with respect to self."""
    def mse_loss(_ops, /, self: Any, target: Any, *, reduction: Literal['none', 'mean', 'sum'] = 'mean',
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Mean squared error of self against target."""
    def mse_loss_backward(_ops, /, grad_output: Any, self: Any, target: Any, *,
            reduction: Literal['none', 'mean', 'sum'] = 'mean', out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of MseLoss with respect to self."""
    def kl_div(_ops, /, self: Any, target: Any, *, reduction: Literal['none', 'mean', 'sum', 'batchmean'] = 'mean',
            log_target: bool = False, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """Kullback-Leibler divergence of target from a prediction that is a logarithm."""
    def kl_div_backward(_ops, /, grad_output: Any, self: Any, target: Any, *,
            reduction: Literal['none', 'mean', 'sum', 'batchmean'] = 'mean', log_target: bool = False,
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of KlDiv with respect to self."""
    def soft_margin_loss(_ops, /, self: Any, target: Any, *, reduction: Literal['none', 'mean', 'sum'] = 'mean',
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Logistic loss of self against a target of -1 or 1."""
    def soft_margin_loss_backward(_ops, /, grad_output: Any, self: Any, target: Any, *,
            reduction: Literal['none', 'mean', 'sum'] = 'mean', out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of SoftMarginLoss with respect to self."""
    def binary_cross_entropy(_ops, /, self: Any, target: Any, weight: Optional[Any] = None, *,
            reduction: Literal['none', 'mean', 'sum'] = 'mean', out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Cross entropy of a probability against a target in [0, 1]."""
    def binary_cross_entropy_backward(_ops, /, grad_output: Any, self: Any, target: Any, weight: Optional[Any] = None,
            *, reduction: Literal['none', 'mean', 'sum'] = 'mean', out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of BinaryCrossEntropy with respect to self."""
    def binary_cross_entropy_with_logits(_ops, /, self: Any, target: Any, weight: Optional[Any] = None,
            pos_weight: Optional[Any] = None, *, reduction: Literal['none', 'mean', 'sum'] = 'mean',
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Cross entropy of the sigmoid of self against a target in [0, 1]."""
    def binary_cross_entropy_with_logits_backward(_ops, /, grad_output: Any, self: Any, target: Any,
            weight: Optional[Any] = None, pos_weight: Optional[Any] = None, *,
            reduction: Literal['none', 'mean', 'sum'] = 'mean', out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of BinaryCrossEntropyWithLogits with respect to self."""
    def binary_cross_entropy_with_logits_target_backward(_ops, /, grad_output: Any, self: Any, target: Any,
            weight: Optional[Any] = None, pos_weight: Optional[Any] = None, *,
            reduction: Literal['none', 'mean', 'sum'] = 'mean', out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of BinaryCrossEntropyWithLogits with respect to target."""
    def nll_loss(_ops, /, self: Any, target: Any, weight: Optional[Any] = None, *,
            reduction: Literal['none', 'mean', 'sum'] = 'mean', ignore_index: int = -100, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Result:
        """Negative log likelihood of the classes in target."""
    def nll_loss_backward(_ops, /, grad_output: Any, self: Any, target: Any, weight: Optional[Any] = None, *,
            total_weight: Any, reduction: Literal['none', 'mean', 'sum'] = 'mean', ignore_index: int = -100,
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of NLLLoss with respect to self."""
    def nll_loss2d(_ops, /, self: Any, target: Any, weight: Optional[Any] = None, *,
            reduction: Literal['none', 'mean', 'sum'] = 'mean', ignore_index: int = -100, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Result:
        """Negative log likelihood of the class of each pixel."""
    def nll_loss2d_backward(_ops, /, grad_output: Any, self: Any, target: Any, weight: Optional[Any] = None, *,
            total_weight: Any, reduction: Literal['none', 'mean', 'sum'] = 'mean', ignore_index: int = -100,
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of NLLLoss2d with respect to self."""
    def cross_entropy_loss(_ops, /, self: Any, target: Any, weight: Optional[Any] = None, *,
            reduction: Literal['none', 'mean', 'sum'] = 'mean', ignore_index: int = -100,
            label_smoothing: float = 0.0, lse_square_scale_for_zloss: float = 0.0, return_zloss: bool = False,
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Result:
        """Cross entropy of classes and what a model says of each."""
    def cross_entropy_loss_grad(_ops, /, grad_loss: Any, log_prob: Any, target: Any, weight: Optional[Any] = None,
            grad_zloss: Optional[Any] = None, lse_for_zloss: Optional[Any] = None, *,
            reduction: Literal['none', 'mean', 'sum'] = 'mean', ignore_index: int = -100,
            label_smoothing: float = 0.0, lse_square_scale_for_zloss: float = 0.0, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of CrossEntropyLoss with respect to self."""
    def ctc_loss(_ops, /, log_probs: Any, targets: Any, *, input_lengths: Sequence[int],
            target_lengths: Sequence[int], blank: int = 0, zero_infinity: bool = False, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Result:
        """Connectionist temporal classification loss: how unlikely the labels are, over all alignments."""
    def ctc_loss_backward(_ops, /, grad_out: Any, log_probs: Any, targets: Any, neg_log_likelihood: Any,
            log_alpha: Any, *, input_lengths: Sequence[int], target_lengths: Sequence[int], blank: int = 0,
            zero_infinity: bool = False, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """Gradient of CtcLoss with respect to the logits before log_softmax."""
    def hardshrink(_ops, /, self: Any, *, lambd: float, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """The input, with values near zero set to zero."""
    def hardshrink_backward(_ops, /, grad_output: Any, self: Any, *, lambd: float, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of Hardshrink."""
    def sigmoid(_ops, /, self: Any, *, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """The logistic function of each element."""
    def sigmoid_backward(_ops, /, grad_output: Any, output: Any, *, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of Sigmoid, from its result."""
    def tanh(_ops, /, self: Any, *, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """The hyperbolic tangent of each element."""
    def tanh_backward(_ops, /, grad_output: Any, output: Any, *, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of Tanh, from its result."""
    def silu(_ops, /, self: Any, *, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """The sigmoid linear unit: each element times its sigmoid."""
    def silu_backward(_ops, /, grad_output: Any, self: Any, *, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of Silu."""
    def swish(_ops, /, self: Any, *, beta: float = 1.0, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """Each element times the sigmoid of its multiple."""
    def swish_backward(_ops, /, grad_output: Any, self: Any, *, beta: float = 1.0, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of Swish."""
    def mish(_ops, /, self: Any, *, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """Each element times the hyperbolic tangent of its softplus."""
    def mish_backward(_ops, /, grad_output: Any, self: Any, *, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of Mish."""
    def gelu(_ops, /, self: Any, *, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """The Gaussian error linear unit."""
    def gelu_backward(_ops, /, grad_output: Any, self: Any, *, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of Gelu."""
    def gelu_v2(_ops, /, self: Any, *, approximate: Literal['none', 'tanh'] = 'none', out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """The Gaussian error linear unit, exact or by tanh."""
    def gelu_backward_v2(_ops, /, grad_output: Any, self: Any, *, approximate: Literal['none', 'tanh'] = 'none',
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of GeluV2."""
    def hardsigmoid(_ops, /, self: Any, *, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """A piecewise linear sigmoid."""
    def hardsigmoid_backward(_ops, /, grad_output: Any, self: Any, *, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of Hardsigmoid."""
    def hardswish(_ops, /, self: Any, *, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """Each element times a piecewise linear sigmoid."""
    def hardswish_backward(_ops, /, grad_output: Any, self: Any, *, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of Hardswish."""
    def hardtanh(_ops, /, self: Any, *, clip_value_min: float = -1.0, clip_value_max: float = 1.0,
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Each element held to a range."""
    def hardtanh_backward(_ops, /, grad_output: Any, self: Any, *, min: float = -1.0, max: float = 1.0,
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of Hardtanh."""
    def selu(_ops, /, self: Any, *, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """The scaled exponential linear unit."""
    def selu_backward(_ops, /, grad_output: Any, result: Any, *, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of Selu, from its result."""
    def elu(_ops, /, self: Any, *, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0,
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """The exponential linear unit."""
    def elu_backward(_ops, /, grad_output: Any, self_or_result: Any, *, alpha: float = 1.0, scale: float = 1.0,
            input_scale: float = 1.0, is_result: bool = False, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of Elu, from its input or from its result."""
    def leaky_relu(_ops, /, self: Any, *, negative_slope: float = 0.01, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """The rectified linear unit with a slope below 0."""
    def leaky_relu_backward(_ops, /, grad_output: Any, self: Any, *, negative_slope: float = 0.01,
            self_is_result: bool = False, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """Gradient of LeakyRelu."""
    def threshold(_ops, /, self: Any, *, threshold: float, value: float, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Elements above a threshold; a value in place of the others."""
    def relu(_ops, /, self: Any, *, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """The rectified linear unit."""
    def threshold_backward(_ops, /, grad_output: Any, self: Any, *, threshold: float, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of Threshold and, with threshold 0, of Relu."""
    def softplus(_ops, /, self: Any, *, beta: float = 1.0, threshold: float = 20.0, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """A smooth rectified linear unit."""
    def softplus_backward(_ops, /, grad_output: Any, self: Any, *, beta: float = 1.0, threshold: float = 20.0,
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of Softplus."""
    def softshrink(_ops, /, self: Any, *, lambd: float = 0.5, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """The input moved to zero, and zero near it."""
    def softshrink_backward(_ops, /, grad_output: Any, self: Any, *, lambd: float = 0.5, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of Softshrink."""
    def log_sigmoid(_ops, /, self: Any, *, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """The logarithm of the sigmoid of each element."""
    def log_sigmoid_forward(_ops, /, self: Any, *, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Result:
        """LogSigmoid, with what its gradient may reuse."""
    def log_sigmoid_backward(_ops, /, grad_output: Any, self: Any, buffer: Optional[Any] = None, *,
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of LogSigmoid."""
    def prelu(_ops, /, self: Any, weight: Any, *, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """The rectified linear unit with a slope below 0 that is learned."""
    def prelu_backward(_ops, /, grad_output: Any, self: Any, weight: Any, *, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Result:
        """Gradients of Prelu with respect to its input and its weight."""
    def glu(_ops, /, self: Any, *, dim: int = -1, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """The gated linear unit: one half of a tensor times the sigmoid of the other."""
    def glu_backward(_ops, /, grad_out: Any, self: Any, *, dim: int = -1, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of Glu."""
    def ge_glu(_ops, /, self: Any, *, dim: int = -1, approximate: Literal['none', 'tanh'] = 'tanh',
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Result:
        """One half of a tensor times the Gaussian error linear unit of the other."""
    def ge_glu_backward(_ops, /, grad_output: Any, self: Any, gelu: Any, *, dim: int = -1,
            approximate: Literal['none', 'tanh'] = 'tanh', out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """Gradient of GeGlu."""
    def swi_glu(_ops, /, x: Any, *, dim: int = -1, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """The sigmoid linear unit of one half of a tensor times the other half."""
    def swi_glu_grad(_ops, /, y_grad: Any, x: Any, *, dim: int = -1, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of SwiGlu."""
    def softmax(_ops, /, self: Any, *, dim: int, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """Exponentials along a dimension, as shares of their sum."""
    def softmax_backward(_ops, /, grad_output: Any, output: Any, *, dim: int, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of Softmax with respect to its input."""
    def log_softmax(_ops, /, self: Any, *, dim: int, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """Logarithm of Softmax."""
    def log_softmax_backward(_ops, /, grad_output: Any, output: Any, *, dim: int, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of LogSoftmax with respect to its input."""
    def group_norm(_ops, /, self: Any, gamma: Optional[Any] = None, beta: Optional[Any] = None, *, N: int, C: int,
            HxW: int, group: int, eps: float = 1e-05, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Result:
        """Normalizes each group of channels to mean 0 and variance 1, then scales and offsets each channel."""
    def group_norm_backward(_ops, /, grad_out: Any, input: Any, mean: Any, rstd: Any, gamma: Optional[Any] = None, *,
            N: int, C: int, HxW: int, group: int, output_mask: Sequence[bool] = [True, True, True],
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Result:
        """Gradients of GroupNorm with respect to its input, gamma and beta."""
    def layer_norm(_ops, /, input: Any, weight: Optional[Any] = None, bias: Optional[Any] = None, *,
            normalized_shape: Sequence[int], eps: float = 1e-05, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Result:
        """Normalizes the last dimensions to mean 0 and variance 1, then scales and offsets each element."""
    def layer_norm_backward(_ops, /, grad_out: Any, input: Any, mean: Any, rstd: Any, weight: Optional[Any] = None,
            bias: Optional[Any] = None, *, normalized_shape: Sequence[int],
            output_mask: Sequence[bool] = [True, True, True], out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Result:
        """Gradients of LayerNorm with respect to its input, weight and bias."""
    def rms_norm(_ops, /, x: Any, gamma: Any, *, epsilon: float = 1e-06, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Result:
        """Divides the last dimensions by their root mean square, then scales each element."""
    def rms_norm_grad(_ops, /, dy: Any, x: Any, rstd: Any, gamma: Any, *, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Result:
        """Gradients of RmsNorm with respect to x and gamma."""
    def batch_norm(_ops, /, input: Any, weight: Optional[Any] = None, bias: Optional[Any] = None,
            running_mean: Optional[Any] = None, running_var: Optional[Any] = None, *, training: bool,
            momentum: float = 0.1, eps: float = 1e-05, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Result:
        """Normalizes each channel to mean 0 and variance 1, over the batch or with running statistics, then scales and offsets it."""
    def batch_norm_backward(_ops, /, grad_out: Any, input: Any, weight: Optional[Any] = None,
            running_mean: Optional[Any] = None, running_var: Optional[Any] = None, save_mean: Optional[Any] = None,
            save_invstd: Optional[Any] = None, *, training: bool, eps: float = 1e-05,
            output_mask: Sequence[bool] = [True, True, True], out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Result:
        """Gradients of BatchNorm with respect to its input, weight and bias."""
    def matmul(_ops, /, self: Any, mat2: Any, *,
            cube_math_type: Literal['keep_dtype', 'allow_fp32_down_precision', 'use_fp16', 'use_hf32'] = 'keep_dtype',
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """The product of two matrices, of a matrix and a vector, or of each of two batches."""
    def batch_mat_mul(_ops, /, self: Any, mat2: Any, *,
            cube_math_type: Literal['keep_dtype', 'allow_fp32_down_precision', 'use_fp16', 'use_hf32'] = 'keep_dtype',
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """The products of two batches of matrices."""
    def addmm(_ops, /, self: Any, mat1: Any, mat2: Any, *, beta: float = 1.0, alpha: float = 1.0,
            cube_math_type: Literal['keep_dtype', 'allow_fp32_down_precision', 'use_fp16', 'use_hf32'] = 'keep_dtype',
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """A matrix plus the product of two others."""
    def convolution(_ops, /, input: Any, weight: Any, bias: Optional[Any] = None, *, stride: Sequence[int],
            padding: Sequence[int], dilation: Sequence[int], transposed: bool = False, output_padding: Sequence[int],
            groups: int = 1,
            cube_math_type: Literal['keep_dtype', 'allow_fp32_down_precision', 'use_fp16', 'use_hf32'] = 'keep_dtype',
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """The convolution of a batch with kernels, or the transposed one, in 1 to 3 dimensions."""
    def convolution_backward(_ops, /, grad_output: Any, input: Any, weight: Any, *, bias_sizes: Sequence[int] = [],
            stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int], transposed: bool = False,
            output_padding: Sequence[int], groups: int = 1, output_mask: Sequence[bool] = [True, True, True],
            cube_math_type: Literal['keep_dtype', 'allow_fp32_down_precision', 'use_fp16', 'use_hf32'] = 'keep_dtype',
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Result:
        """Gradients of Convolution with respect to its input, weight and bias."""
    def max_pool2d_with_indices(_ops, /, self: Any, *, kernel_size: Sequence[int], stride: Sequence[int],
            padding: Sequence[int], dilation: Sequence[int], ceil_mode: bool = False, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Result:
        """The largest element of each window of a plane, and its place."""
    def max_pool2d_with_indices_backward(_ops, /, grad_output: Any, self: Any, indices: Any, *,
            kernel_size: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int],
            ceil_mode: bool = False, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """Gradient of MaxPool2dWithIndices."""
    def avg_pool2d(_ops, /, self: Any, *, kernel_size: Sequence[int], stride: Sequence[int], padding: Sequence[int],
            ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int = 0,
            cube_math_type: int = 0, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """The mean of each window of a plane."""
    def avg_pool2d_backward(_ops, /, grad_output: Any, self: Any, *, kernel_size: Sequence[int],
            stride: Sequence[int], padding: Sequence[int], ceil_mode: bool = False, count_include_pad: bool = True,
            divisor_override: int = 0, cube_math_type: int = 0, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of AvgPool2d."""
    def adaptive_avg_pool2d(_ops, /, self: Any, *, output_size: Sequence[int], out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """The means of the windows that share a plane out among an output of any size."""
    def adaptive_avg_pool2d_backward(_ops, /, grad_output: Any, self: Any, *, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of AdaptiveAvgPool2d."""
    def reflection_pad1d(_ops, /, self: Any, *, padding: Sequence[int], out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Rows with their mirror image before and behind."""
    def reflection_pad1d_backward(_ops, /, grad_output: Any, self: Any, *, padding: Sequence[int],
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of ReflectionPad1d."""
    def reflection_pad2d(_ops, /, self: Any, *, padding: Sequence[int], out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Planes with their mirror images around them."""
    def reflection_pad2d_backward(_ops, /, grad_output: Any, self: Any, *, padding: Sequence[int],
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of ReflectionPad2d."""
    def replication_pad1d(_ops, /, self: Any, *, padding: Sequence[int], out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Rows with their first and last elements repeated before and behind."""
    def replication_pad1d_backward(_ops, /, grad_output: Any, self: Any, *, padding: Sequence[int],
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of ReplicationPad1d."""
    def replication_pad2d(_ops, /, self: Any, *, padding: Sequence[int], out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Planes with their borders repeated around them."""
    def replication_pad2d_backward(_ops, /, grad_output: Any, self: Any, *, padding: Sequence[int],
            out: Optional[Any] = None, device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of ReplicationPad2d."""
    def upsample_nearest2d(_ops, /, self: Any, *, output_size: Sequence[int], out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Resamples planes: each output is the element nearest to it."""
    def upsample_nearest2d_backward(_ops, /, grad_out: Any, *, output_size: Sequence[int], input_size: Sequence[int],
            scales_h: float = 0.0, scales_w: float = 0.0, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """Gradient of UpsampleNearest2d."""
    def upsample_bilinear2d(_ops, /, self: Any, *, output_size: Sequence[int], align_corners: bool = False,
            scales_h: float = 0.0, scales_w: float = 0.0, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """Resamples planes: each output lies between two rows and two columns."""
    def upsample_bilinear2d_backward(_ops, /, grad_out: Any, *, output_size: Sequence[int], input_size: Sequence[int],
            align_corners: bool = False, scales_h: float = 0.0, scales_w: float = 0.0, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """Gradient of UpsampleBilinear2d."""
    def embedding(_ops, /, weight: Any, indices: Any, *, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """A row of a matrix for each index."""
    def embedding_dense_backward(_ops, /, grad: Any, indices: Any, *, num_weights: int, padding_idx: int = -1,
            scale_grad_by_freq: bool = False, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """Gradient of Embedding with respect to its weight."""
    def add(_ops, /, self: Any, other: Any, *, alpha: float = 1.0, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """The sum of two tensors, the second times a scalar."""
    def sub(_ops, /, self: Any, other: Any, *, alpha: float = 1.0, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """The difference of two tensors, the second times a scalar."""
    def mul(_ops, /, self: Any, other: Any, *, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """The product of two tensors."""
    def div(_ops, /, self: Any, other: Any, *, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """The quotient of two tensors."""
    def cast(_ops, /, self: Any, *, dtype: Literal['float32', 'float16', 'bfloat16'], out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """A tensor in another dtype."""
    def permute(_ops, /, self: Any, *, dims: Sequence[int], out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Array:
        """A copy of a tensor with its dimensions in another order."""
    def reduce_sum(_ops, /, self: Any, *, dims: Sequence[int], keep_dims: bool = False,
            dtype: Literal['self', 'float32', 'float16', 'bfloat16'] = 'self', out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """The sum of a tensor's elements over some of its dimensions."""
    def mean(_ops, /, self: Any, *, dim: Sequence[int], keep_dim: bool = False,
            dtype: Literal['self', 'float32', 'float16', 'bfloat16'] = 'self', out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Array:
        """The mean of a tensor's elements over some of its dimensions."""

class AsyncOperators(Operators):
    def __init__(self, operators: Callable[[], Awaitable[Mapping[str, Operator]]],
            call: Callable[..., Any]) -> None: ...
    def l1_loss(_ops, /, self: Any, target: Any, *, reduction: Literal['none', 'mean', 'sum'] = 'mean',  # type: ignore[override]
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Mean absolute error of self against target."""
    def l1_loss_backward(_ops, /, grad_output: Any, self: Any, target: Any, *,  # type: ignore[override]
            reduction: Literal['none', 'mean', 'sum'] = 'mean', out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of L1Loss with respect to self."""
    def smooth_l1_loss(_ops, /, self: Any, target: Any, *, reduction: Literal['none', 'mean', 'sum'] = 'mean',  # type: ignore[override]
            beta: float = 1.0, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Huber-like loss: quadratic near zero, linear beyond beta."""
    def smooth_l1_loss_backward(_ops, /, grad_out: Any, self: Any, target: Any, *,  # type: ignore[override]
            reduction: Literal['none', 'mean', 'sum'] = 'mean', beta: float = 1.0, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of SmoothL1Loss with respect to self."""
    def mse_loss(_ops, /, self: Any, target: Any, *, reduction: Literal['none', 'mean', 'sum'] = 'mean',  # type: ignore[override]
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Mean squared error of self against target."""
    def mse_loss_backward(_ops, /, grad_output: Any, self: Any, target: Any, *,  # type: ignore[override]
            reduction: Literal['none', 'mean', 'sum'] = 'mean', out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of MseLoss with respect to self."""
    def kl_div(_ops, /, self: Any, target: Any, *, reduction: Literal['none', 'mean', 'sum', 'batchmean'] = 'mean',  # type: ignore[override]
            log_target: bool = False, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Kullback-Leibler divergence of target from a prediction that is a logarithm."""
    def kl_div_backward(_ops, /, grad_output: Any, self: Any, target: Any, *,  # type: ignore[override]
            reduction: Literal['none', 'mean', 'sum', 'batchmean'] = 'mean', log_target: bool = False,
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of KlDiv with respect to self."""
    def soft_margin_loss(_ops, /, self: Any, target: Any, *, reduction: Literal['none', 'mean', 'sum'] = 'mean',  # type: ignore[override]
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Logistic loss of self against a target of -1 or 1."""
    def soft_margin_loss_backward(_ops, /, grad_output: Any, self: Any, target: Any, *,  # type: ignore[override]
            reduction: Literal['none', 'mean', 'sum'] = 'mean', out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of SoftMarginLoss with respect to self."""
    def binary_cross_entropy(_ops, /, self: Any, target: Any, weight: Optional[Any] = None, *,  # type: ignore[override]
            reduction: Literal['none', 'mean', 'sum'] = 'mean', out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Cross entropy of a probability against a target in [0, 1]."""
    def binary_cross_entropy_backward(_ops, /, grad_output: Any, self: Any, target: Any, weight: Optional[Any] = None,  # type: ignore[override]
            *, reduction: Literal['none', 'mean', 'sum'] = 'mean', out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of BinaryCrossEntropy with respect to self."""
    def binary_cross_entropy_with_logits(_ops, /, self: Any, target: Any, weight: Optional[Any] = None,  # type: ignore[override]
            pos_weight: Optional[Any] = None, *, reduction: Literal['none', 'mean', 'sum'] = 'mean',
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Cross entropy of the sigmoid of self against a target in [0, 1]."""
    def binary_cross_entropy_with_logits_backward(_ops, /, grad_output: Any, self: Any, target: Any,  # type: ignore[override]
            weight: Optional[Any] = None, pos_weight: Optional[Any] = None, *,
            reduction: Literal['none', 'mean', 'sum'] = 'mean', out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of BinaryCrossEntropyWithLogits with respect to self."""
    def binary_cross_entropy_with_logits_target_backward(_ops, /, grad_output: Any, self: Any, target: Any,  # type: ignore[override]
            weight: Optional[Any] = None, pos_weight: Optional[Any] = None, *,
            reduction: Literal['none', 'mean', 'sum'] = 'mean', out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of BinaryCrossEntropyWithLogits with respect to target."""
    def nll_loss(_ops, /, self: Any, target: Any, weight: Optional[Any] = None, *,  # type: ignore[override]
            reduction: Literal['none', 'mean', 'sum'] = 'mean', ignore_index: int = -100, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Result]:
        """Negative log likelihood of the classes in target."""
    def nll_loss_backward(_ops, /, grad_output: Any, self: Any, target: Any, weight: Optional[Any] = None, *,  # type: ignore[override]
            total_weight: Any, reduction: Literal['none', 'mean', 'sum'] = 'mean', ignore_index: int = -100,
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of NLLLoss with respect to self."""
    def nll_loss2d(_ops, /, self: Any, target: Any, weight: Optional[Any] = None, *,  # type: ignore[override]
            reduction: Literal['none', 'mean', 'sum'] = 'mean', ignore_index: int = -100, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Result]:
        """Negative log likelihood of the class of each pixel."""
    def nll_loss2d_backward(_ops, /, grad_output: Any, self: Any, target: Any, weight: Optional[Any] = None, *,  # type: ignore[override]
            total_weight: Any, reduction: Literal['none', 'mean', 'sum'] = 'mean', ignore_index: int = -100,
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of NLLLoss2d with respect to self."""
    def cross_entropy_loss(_ops, /, self: Any, target: Any, weight: Optional[Any] = None, *,  # type: ignore[override]
            reduction: Literal['none', 'mean', 'sum'] = 'mean', ignore_index: int = -100,
            label_smoothing: float = 0.0, lse_square_scale_for_zloss: float = 0.0, return_zloss: bool = False,
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Result]:
        """Cross entropy of classes and what a model says of each."""
    def cross_entropy_loss_grad(_ops, /, grad_loss: Any, log_prob: Any, target: Any, weight: Optional[Any] = None,  # type: ignore[override]
            grad_zloss: Optional[Any] = None, lse_for_zloss: Optional[Any] = None, *,
            reduction: Literal['none', 'mean', 'sum'] = 'mean', ignore_index: int = -100,
            label_smoothing: float = 0.0, lse_square_scale_for_zloss: float = 0.0, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of CrossEntropyLoss with respect to self."""
    def ctc_loss(_ops, /, log_probs: Any, targets: Any, *, input_lengths: Sequence[int],  # type: ignore[override]
            target_lengths: Sequence[int], blank: int = 0, zero_infinity: bool = False, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Result]:
        """Connectionist temporal classification loss: how unlikely the labels are, over all alignments."""
    def ctc_loss_backward(_ops, /, grad_out: Any, log_probs: Any, targets: Any, neg_log_likelihood: Any,  # type: ignore[override]
            log_alpha: Any, *, input_lengths: Sequence[int], target_lengths: Sequence[int], blank: int = 0,
            zero_infinity: bool = False, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of CtcLoss with respect to the logits before log_softmax."""
    def hardshrink(_ops, /, self: Any, *, lambd: float, out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """The input, with values near zero set to zero."""
    def hardshrink_backward(_ops, /, grad_output: Any, self: Any, *, lambd: float, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of Hardshrink."""
    def sigmoid(_ops, /, self: Any, *, out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """The logistic function of each element."""
    def sigmoid_backward(_ops, /, grad_output: Any, output: Any, *, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of Sigmoid, from its result."""
    def tanh(_ops, /, self: Any, *, out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """The hyperbolic tangent of each element."""
    def tanh_backward(_ops, /, grad_output: Any, output: Any, *, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of Tanh, from its result."""
    def silu(_ops, /, self: Any, *, out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """The sigmoid linear unit: each element times its sigmoid."""
    def silu_backward(_ops, /, grad_output: Any, self: Any, *, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of Silu."""
    def swish(_ops, /, self: Any, *, beta: float = 1.0, out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Each element times the sigmoid of its multiple."""
    def swish_backward(_ops, /, grad_output: Any, self: Any, *, beta: float = 1.0, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of Swish."""
    def mish(_ops, /, self: Any, *, out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Each element times the hyperbolic tangent of its softplus."""
    def mish_backward(_ops, /, grad_output: Any, self: Any, *, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of Mish."""
    def gelu(_ops, /, self: Any, *, out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """The Gaussian error linear unit."""
    def gelu_backward(_ops, /, grad_output: Any, self: Any, *, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of Gelu."""
    def gelu_v2(_ops, /, self: Any, *, approximate: Literal['none', 'tanh'] = 'none', out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """The Gaussian error linear unit, exact or by tanh."""
    def gelu_backward_v2(_ops, /, grad_output: Any, self: Any, *, approximate: Literal['none', 'tanh'] = 'none',  # type: ignore[override]
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of GeluV2."""
    def hardsigmoid(_ops, /, self: Any, *, out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """A piecewise linear sigmoid."""
    def hardsigmoid_backward(_ops, /, grad_output: Any, self: Any, *, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of Hardsigmoid."""
    def hardswish(_ops, /, self: Any, *, out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Each element times a piecewise linear sigmoid."""
    def hardswish_backward(_ops, /, grad_output: Any, self: Any, *, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of Hardswish."""
    def hardtanh(_ops, /, self: Any, *, clip_value_min: float = -1.0, clip_value_max: float = 1.0,  # type: ignore[override]
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Each element held to a range."""
    def hardtanh_backward(_ops, /, grad_output: Any, self: Any, *, min: float = -1.0, max: float = 1.0,  # type: ignore[override]
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of Hardtanh."""
    def selu(_ops, /, self: Any, *, out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """The scaled exponential linear unit."""
    def selu_backward(_ops, /, grad_output: Any, result: Any, *, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of Selu, from its result."""
    def elu(_ops, /, self: Any, *, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0,  # type: ignore[override]
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """The exponential linear unit."""
    def elu_backward(_ops, /, grad_output: Any, self_or_result: Any, *, alpha: float = 1.0, scale: float = 1.0,  # type: ignore[override]
            input_scale: float = 1.0, is_result: bool = False, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of Elu, from its input or from its result."""
    def leaky_relu(_ops, /, self: Any, *, negative_slope: float = 0.01, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """The rectified linear unit with a slope below 0."""
    def leaky_relu_backward(_ops, /, grad_output: Any, self: Any, *, negative_slope: float = 0.01,  # type: ignore[override]
            self_is_result: bool = False, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of LeakyRelu."""
    def threshold(_ops, /, self: Any, *, threshold: float, value: float, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Elements above a threshold; a value in place of the others."""
    def relu(_ops, /, self: Any, *, out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """The rectified linear unit."""
    def threshold_backward(_ops, /, grad_output: Any, self: Any, *, threshold: float, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of Threshold and, with threshold 0, of Relu."""
    def softplus(_ops, /, self: Any, *, beta: float = 1.0, threshold: float = 20.0, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """A smooth rectified linear unit."""
    def softplus_backward(_ops, /, grad_output: Any, self: Any, *, beta: float = 1.0, threshold: float = 20.0,  # type: ignore[override]
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of Softplus."""
    def softshrink(_ops, /, self: Any, *, lambd: float = 0.5, out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """The input moved to zero, and zero near it."""
    def softshrink_backward(_ops, /, grad_output: Any, self: Any, *, lambd: float = 0.5, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of Softshrink."""
    def log_sigmoid(_ops, /, self: Any, *, out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """The logarithm of the sigmoid of each element."""
    def log_sigmoid_forward(_ops, /, self: Any, *, out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Result]:
        """LogSigmoid, with what its gradient may reuse."""
    def log_sigmoid_backward(_ops, /, grad_output: Any, self: Any, buffer: Optional[Any] = None, *,  # type: ignore[override]
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of LogSigmoid."""
    def prelu(_ops, /, self: Any, weight: Any, *, out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """The rectified linear unit with a slope below 0 that is learned."""
    def prelu_backward(_ops, /, grad_output: Any, self: Any, weight: Any, *, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Result]:
        """Gradients of Prelu with respect to its input and its weight."""
    def glu(_ops, /, self: Any, *, dim: int = -1, out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """The gated linear unit: one half of a tensor times the sigmoid of the other."""
    def glu_backward(_ops, /, grad_out: Any, self: Any, *, dim: int = -1, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of Glu."""
    def ge_glu(_ops, /, self: Any, *, dim: int = -1, approximate: Literal['none', 'tanh'] = 'tanh',  # type: ignore[override]
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Result]:
        """One half of a tensor times the Gaussian error linear unit of the other."""
    def ge_glu_backward(_ops, /, grad_output: Any, self: Any, gelu: Any, *, dim: int = -1,  # type: ignore[override]
            approximate: Literal['none', 'tanh'] = 'tanh', out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of GeGlu."""
    def swi_glu(_ops, /, x: Any, *, dim: int = -1, out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """The sigmoid linear unit of one half of a tensor times the other half."""
    def swi_glu_grad(_ops, /, y_grad: Any, x: Any, *, dim: int = -1, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of SwiGlu."""
    def softmax(_ops, /, self: Any, *, dim: int, out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Exponentials along a dimension, as shares of their sum."""
    def softmax_backward(_ops, /, grad_output: Any, output: Any, *, dim: int, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of Softmax with respect to its input."""
    def log_softmax(_ops, /, self: Any, *, dim: int, out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Logarithm of Softmax."""
    def log_softmax_backward(_ops, /, grad_output: Any, output: Any, *, dim: int, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of LogSoftmax with respect to its input."""
    def group_norm(_ops, /, self: Any, gamma: Optional[Any] = None, beta: Optional[Any] = None, *, N: int, C: int,  # type: ignore[override]
            HxW: int, group: int, eps: float = 1e-05, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Result]:
        """Normalizes each group of channels to mean 0 and variance 1, then scales and offsets each channel."""
    def group_norm_backward(_ops, /, grad_out: Any, input: Any, mean: Any, rstd: Any, gamma: Optional[Any] = None, *,  # type: ignore[override]
            N: int, C: int, HxW: int, group: int, output_mask: Sequence[bool] = [True, True, True],
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Result]:
        """Gradients of GroupNorm with respect to its input, gamma and beta."""
    def layer_norm(_ops, /, input: Any, weight: Optional[Any] = None, bias: Optional[Any] = None, *,  # type: ignore[override]
            normalized_shape: Sequence[int], eps: float = 1e-05, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Result]:
        """Normalizes the last dimensions to mean 0 and variance 1, then scales and offsets each element."""
    def layer_norm_backward(_ops, /, grad_out: Any, input: Any, mean: Any, rstd: Any, weight: Optional[Any] = None,  # type: ignore[override]
            bias: Optional[Any] = None, *, normalized_shape: Sequence[int],
            output_mask: Sequence[bool] = [True, True, True], out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Result]:
        """Gradients of LayerNorm with respect to its input, weight and bias."""
    def rms_norm(_ops, /, x: Any, gamma: Any, *, epsilon: float = 1e-06, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Result]:
        """Divides the last dimensions by their root mean square, then scales each element."""
    def rms_norm_grad(_ops, /, dy: Any, x: Any, rstd: Any, gamma: Any, *, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Result]:
        """Gradients of RmsNorm with respect to x and gamma."""
    def batch_norm(_ops, /, input: Any, weight: Optional[Any] = None, bias: Optional[Any] = None,  # type: ignore[override]
            running_mean: Optional[Any] = None, running_var: Optional[Any] = None, *, training: bool,
            momentum: float = 0.1, eps: float = 1e-05, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Result]:
        """Normalizes each channel to mean 0 and variance 1, over the batch or with running statistics, then scales and offsets it."""
    def batch_norm_backward(_ops, /, grad_out: Any, input: Any, weight: Optional[Any] = None,  # type: ignore[override]
            running_mean: Optional[Any] = None, running_var: Optional[Any] = None, save_mean: Optional[Any] = None,
            save_invstd: Optional[Any] = None, *, training: bool, eps: float = 1e-05,
            output_mask: Sequence[bool] = [True, True, True], out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Result]:
        """Gradients of BatchNorm with respect to its input, weight and bias."""
    def matmul(_ops, /, self: Any, mat2: Any, *,  # type: ignore[override]
            cube_math_type: Literal['keep_dtype', 'allow_fp32_down_precision', 'use_fp16', 'use_hf32'] = 'keep_dtype',
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """The product of two matrices, of a matrix and a vector, or of each of two batches."""
    def batch_mat_mul(_ops, /, self: Any, mat2: Any, *,  # type: ignore[override]
            cube_math_type: Literal['keep_dtype', 'allow_fp32_down_precision', 'use_fp16', 'use_hf32'] = 'keep_dtype',
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """The products of two batches of matrices."""
    def addmm(_ops, /, self: Any, mat1: Any, mat2: Any, *, beta: float = 1.0, alpha: float = 1.0,  # type: ignore[override]
            cube_math_type: Literal['keep_dtype', 'allow_fp32_down_precision', 'use_fp16', 'use_hf32'] = 'keep_dtype',
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """A matrix plus the product of two others."""
    def convolution(_ops, /, input: Any, weight: Any, bias: Optional[Any] = None, *, stride: Sequence[int],  # type: ignore[override]
            padding: Sequence[int], dilation: Sequence[int], transposed: bool = False, output_padding: Sequence[int],
            groups: int = 1,
            cube_math_type: Literal['keep_dtype', 'allow_fp32_down_precision', 'use_fp16', 'use_hf32'] = 'keep_dtype',
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """The convolution of a batch with kernels, or the transposed one, in 1 to 3 dimensions."""
    def convolution_backward(_ops, /, grad_output: Any, input: Any, weight: Any, *, bias_sizes: Sequence[int] = [],  # type: ignore[override]
            stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int], transposed: bool = False,
            output_padding: Sequence[int], groups: int = 1, output_mask: Sequence[bool] = [True, True, True],
            cube_math_type: Literal['keep_dtype', 'allow_fp32_down_precision', 'use_fp16', 'use_hf32'] = 'keep_dtype',
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Result]:
        """Gradients of Convolution with respect to its input, weight and bias."""
    def max_pool2d_with_indices(_ops, /, self: Any, *, kernel_size: Sequence[int], stride: Sequence[int],  # type: ignore[override]
            padding: Sequence[int], dilation: Sequence[int], ceil_mode: bool = False, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Result]:
        """The largest element of each window of a plane, and its place."""
    def max_pool2d_with_indices_backward(_ops, /, grad_output: Any, self: Any, indices: Any, *,  # type: ignore[override]
            kernel_size: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int],
            ceil_mode: bool = False, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of MaxPool2dWithIndices."""
    def avg_pool2d(_ops, /, self: Any, *, kernel_size: Sequence[int], stride: Sequence[int], padding: Sequence[int],  # type: ignore[override]
            ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int = 0,
            cube_math_type: int = 0, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """The mean of each window of a plane."""
    def avg_pool2d_backward(_ops, /, grad_output: Any, self: Any, *, kernel_size: Sequence[int],  # type: ignore[override]
            stride: Sequence[int], padding: Sequence[int], ceil_mode: bool = False, count_include_pad: bool = True,
            divisor_override: int = 0, cube_math_type: int = 0, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of AvgPool2d."""
    def adaptive_avg_pool2d(_ops, /, self: Any, *, output_size: Sequence[int], out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """The means of the windows that share a plane out among an output of any size."""
    def adaptive_avg_pool2d_backward(_ops, /, grad_output: Any, self: Any, *, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of AdaptiveAvgPool2d."""
    def reflection_pad1d(_ops, /, self: Any, *, padding: Sequence[int], out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Rows with their mirror image before and behind."""
    def reflection_pad1d_backward(_ops, /, grad_output: Any, self: Any, *, padding: Sequence[int],  # type: ignore[override]
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of ReflectionPad1d."""
    def reflection_pad2d(_ops, /, self: Any, *, padding: Sequence[int], out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Planes with their mirror images around them."""
    def reflection_pad2d_backward(_ops, /, grad_output: Any, self: Any, *, padding: Sequence[int],  # type: ignore[override]
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of ReflectionPad2d."""
    def replication_pad1d(_ops, /, self: Any, *, padding: Sequence[int], out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Rows with their first and last elements repeated before and behind."""
    def replication_pad1d_backward(_ops, /, grad_output: Any, self: Any, *, padding: Sequence[int],  # type: ignore[override]
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of ReplicationPad1d."""
    def replication_pad2d(_ops, /, self: Any, *, padding: Sequence[int], out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Planes with their borders repeated around them."""
    def replication_pad2d_backward(_ops, /, grad_output: Any, self: Any, *, padding: Sequence[int],  # type: ignore[override]
            out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of ReplicationPad2d."""
    def upsample_nearest2d(_ops, /, self: Any, *, output_size: Sequence[int], out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Resamples planes: each output is the element nearest to it."""
    def upsample_nearest2d_backward(_ops, /, grad_out: Any, *, output_size: Sequence[int], input_size: Sequence[int],  # type: ignore[override]
            scales_h: float = 0.0, scales_w: float = 0.0, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of UpsampleNearest2d."""
    def upsample_bilinear2d(_ops, /, self: Any, *, output_size: Sequence[int], align_corners: bool = False,  # type: ignore[override]
            scales_h: float = 0.0, scales_w: float = 0.0, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Resamples planes: each output lies between two rows and two columns."""
    def upsample_bilinear2d_backward(_ops, /, grad_out: Any, *, output_size: Sequence[int], input_size: Sequence[int],  # type: ignore[override]
            align_corners: bool = False, scales_h: float = 0.0, scales_w: float = 0.0, out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of UpsampleBilinear2d."""
    def embedding(_ops, /, weight: Any, indices: Any, *, out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """A row of a matrix for each index."""
    def embedding_dense_backward(_ops, /, grad: Any, indices: Any, *, num_weights: int, padding_idx: int = -1,  # type: ignore[override]
            scale_grad_by_freq: bool = False, out: Optional[Any] = None, device: Optional[str] = None,
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """Gradient of Embedding with respect to its weight."""
    def add(_ops, /, self: Any, other: Any, *, alpha: float = 1.0, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """The sum of two tensors, the second times a scalar."""
    def sub(_ops, /, self: Any, other: Any, *, alpha: float = 1.0, out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """The difference of two tensors, the second times a scalar."""
    def mul(_ops, /, self: Any, other: Any, *, out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """The product of two tensors."""
    def div(_ops, /, self: Any, other: Any, *, out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """The quotient of two tensors."""
    def cast(_ops, /, self: Any, *, dtype: Literal['float32', 'float16', 'bfloat16'], out: Optional[Any] = None,  # type: ignore[override]
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """A tensor in another dtype."""
    def permute(_ops, /, self: Any, *, dims: Sequence[int], out: Optional[Any] = None, device: Optional[str] = None,  # type: ignore[override]
            timeout: Optional[float] = None) -> Awaitable[Array]:
        """A copy of a tensor with its dimensions in another order."""
    def reduce_sum(_ops, /, self: Any, *, dims: Sequence[int], keep_dims: bool = False,  # type: ignore[override]
            dtype: Literal['self', 'float32', 'float16', 'bfloat16'] = 'self', out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """The sum of a tensor's elements over some of its dimensions."""
    def mean(_ops, /, self: Any, *, dim: Sequence[int], keep_dim: bool = False,  # type: ignore[override]
            dtype: Literal['self', 'float32', 'float16', 'bfloat16'] = 'self', out: Optional[Any] = None,
            device: Optional[str] = None, timeout: Optional[float] = None) -> Awaitable[Array]:
        """The mean of a tensor's elements over some of its dimensions."""
