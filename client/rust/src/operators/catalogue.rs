// Written by client/catalogue/generate.py.
#![allow(clippy::too_many_arguments)]

use super::operator;
use crate::attribute::Attribute;
use crate::call::Call;
use crate::tensor::Tensor;

/// What is made of the losses of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// The loss of each element.
    None = 0,
    /// Their mean.
    Mean = 1,
    /// Their sum.
    Sum = 2,
}

impl From<Reduction> for Attribute {
    fn from(value: Reduction) -> Self {
        Self::Int(value as i64)
    }
}

/// What is made of the losses of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KlDivReduction {
    /// The loss of each element.
    None = 0,
    /// Their mean.
    Mean = 1,
    /// Their sum.
    Sum = 2,
    /// Their sum over the first extent.
    Batchmean = 3,
}

impl From<KlDivReduction> for Attribute {
    fn from(value: KlDivReduction) -> Self {
        Self::Int(value as i64)
    }
}

/// How the distribution function is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Approximate {
    /// By the normal distribution function.
    None = 0,
    /// By the hyperbolic tangent.
    Tanh = 1,
}

impl From<Approximate> for Attribute {
    fn from(value: Approximate) -> Self {
        Self::Int(value as i64)
    }
}

/// Precision of the products on an NPU; on the CPU it has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CubeMathType {
    /// Compute in the dtype of the inputs.
    KeepDtype = 0,
    /// Float32 may be computed with fewer bits.
    AllowFp32DownPrecision = 1,
    /// Compute in float16.
    UseFp16 = 2,
    /// Compute in HFLOAT32.
    UseHf32 = 3,
}

impl From<CubeMathType> for Attribute {
    fn from(value: CubeMathType) -> Self {
        Self::Int(value as i64)
    }
}

/// The dtype of out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CastDtype {
    /// Single precision.
    Float32 = 0,
    /// IEEE half precision.
    Float16 = 1,
    /// Float32's exponent, 8 bits of precision.
    Bfloat16 = 27,
}

impl From<CastDtype> for Attribute {
    fn from(value: CastDtype) -> Self {
        Self::Int(value as i64)
    }
}

/// The dtype of out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduceSumDtype {
    /// That of self.
    SelfDtype = -1,
    /// Single precision.
    Float32 = 0,
    /// IEEE half precision.
    Float16 = 1,
    /// Float32's exponent, 8 bits of precision.
    Bfloat16 = 27,
}

impl From<ReduceSumDtype> for Attribute {
    fn from(value: ReduceSumDtype) -> Self {
        Self::Int(value as i64)
    }
}

/// Mean absolute error of self against target.
///
/// ```text
/// loss = |self - target|
/// reduction none gives the loss of each element, mean their mean, sum their sum. An empty tensor has mean NaN and sum 0.
/// Integers and bools are taken only beside a floating input.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct L1Loss<T = Tensor>(Call<T>);

impl<T> L1Loss<T> {
    /// L1Loss of what it needs:
    ///
    /// - `self_`: The prediction.
    /// - `target`: The truth.
    pub fn new(self_: impl Into<T>, target: impl Into<T>) -> Self {
        Self(Call::new("L1Loss").input("self", self_).input("target", target))
    }

    /// What is made of the losses of the elements. Default: mean.
    pub fn reduction(self, reduction: Reduction) -> Self {
        Self(self.0.attribute("reduction", reduction))
    }
}

operator!(L1Loss, "out");

/// Gradient of L1Loss with respect to self.
///
/// ```text
/// grad_input = sign(self - target) * (grad_output * k)
/// sign(0) = 0 and sign(NaN) = 0. k = 1/n for reduction mean, n the number of elements of grad_input; k = 1 for none and sum.
/// Unlike PyTorch, n counts the elements after broadcasting.
/// Integers and bools are taken only beside a floating input.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct L1LossBackward<T = Tensor>(Call<T>);

impl<T> L1LossBackward<T> {
    /// L1LossBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the loss's result; a scalar for mean and sum.
    /// - `self_`: The prediction.
    /// - `target`: The truth.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>, target: impl Into<T>) -> Self {
        Self(Call::new("L1LossBackward").input("grad_output", grad_output).input("self", self_).input("target", target))
    }

    /// What is made of the losses of the elements. Default: mean.
    pub fn reduction(self, reduction: Reduction) -> Self {
        Self(self.0.attribute("reduction", reduction))
    }
}

operator!(L1LossBackward, "grad_input");

/// Huber-like loss: quadratic near zero, linear beyond beta.
///
/// ```text
/// x = self - target
/// loss = 0.5 * x * x / beta where |x| < beta, |x| - 0.5 * beta elsewhere
/// reduction none gives the loss of each element, mean their mean, sum their sum. An empty tensor has mean NaN and sum 0. beta = 0 is L1Loss.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct SmoothL1Loss<T = Tensor>(Call<T>);

impl<T> SmoothL1Loss<T> {
    /// SmoothL1Loss of what it needs:
    ///
    /// - `self_`: The prediction.
    /// - `target`: The truth.
    pub fn new(self_: impl Into<T>, target: impl Into<T>) -> Self {
        Self(Call::new("SmoothL1Loss").input("self", self_).input("target", target))
    }

    /// What is made of the losses of the elements. Default: mean.
    pub fn reduction(self, reduction: Reduction) -> Self {
        Self(self.0.attribute("reduction", reduction))
    }

    /// Where the loss turns from quadratic to linear; may be infinite. Default: 1.0.
    pub fn beta(self, beta: f64) -> Self {
        Self(self.0.attribute("beta", beta))
    }
}

operator!(SmoothL1Loss, "result");

/// Gradient of SmoothL1Loss with respect to self.
///
/// ```text
/// x = self - target
/// grad_input = s * (grad_out * k), s = -1 where x <= -beta, +1 where x >= beta, x / beta between
/// k = 1/n for reduction mean, n the number of elements of grad_input; k = 1 for none and sum. A NaN x gives NaN.
/// beta = 0 is exactly L1LossBackward: sign(0) = sign(NaN) = 0, where PyTorch gives -grad and NaN. Unlike PyTorch, n counts the elements after broadcasting.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct SmoothL1LossBackward<T = Tensor>(Call<T>);

impl<T> SmoothL1LossBackward<T> {
    /// SmoothL1LossBackward of what it needs:
    ///
    /// - `grad_out`: Gradient of the loss's result; a scalar for mean and sum.
    /// - `self_`: The prediction.
    /// - `target`: The truth.
    pub fn new(grad_out: impl Into<T>, self_: impl Into<T>, target: impl Into<T>) -> Self {
        Self(Call::new("SmoothL1LossBackward").input("grad_out", grad_out).input("self", self_).input("target", target))
    }

    /// What is made of the losses of the elements. Default: mean.
    pub fn reduction(self, reduction: Reduction) -> Self {
        Self(self.0.attribute("reduction", reduction))
    }

    /// Where the loss turns from quadratic to linear; may be infinite. Default: 1.0.
    pub fn beta(self, beta: f64) -> Self {
        Self(self.0.attribute("beta", beta))
    }
}

operator!(SmoothL1LossBackward, "grad_input");

/// Mean squared error of self against target.
///
/// ```text
/// loss = (self - target)^2
/// reduction none gives the loss of each element, mean their mean, sum their sum. An empty tensor has mean NaN and sum 0.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct MseLoss<T = Tensor>(Call<T>);

impl<T> MseLoss<T> {
    /// MseLoss of what it needs:
    ///
    /// - `self_`: The prediction.
    /// - `target`: The truth.
    pub fn new(self_: impl Into<T>, target: impl Into<T>) -> Self {
        Self(Call::new("MseLoss").input("self", self_).input("target", target))
    }

    /// What is made of the losses of the elements. Default: mean.
    pub fn reduction(self, reduction: Reduction) -> Self {
        Self(self.0.attribute("reduction", reduction))
    }
}

operator!(MseLoss, "out");

/// Gradient of MseLoss with respect to self.
///
/// ```text
/// out = 2 * (self - target) * (grad_output * k)
/// k = 1/n for reduction mean, n the number of elements of the result; k = 1 for none and sum.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct MseLossBackward<T = Tensor>(Call<T>);

impl<T> MseLossBackward<T> {
    /// MseLossBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the loss's result; a scalar unless the reduction is none.
    /// - `self_`: The prediction.
    /// - `target`: The truth.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>, target: impl Into<T>) -> Self {
        Self(Call::new("MseLossBackward").input("grad_output", grad_output).input("self", self_).input("target", target))
    }

    /// What is made of the losses of the elements. Default: mean.
    pub fn reduction(self, reduction: Reduction) -> Self {
        Self(self.0.attribute("reduction", reduction))
    }
}

operator!(MseLossBackward, "out");

/// Kullback-Leibler divergence of target from a prediction that is a logarithm.
///
/// ```text
/// loss = target * (log(target) - self), 0 where target = 0; with log_target exp(target) * (target - self)
/// reduction none gives the loss of each element, mean their mean, sum their sum. An empty tensor has mean NaN and sum 0. batchmean gives their sum over the first extent; of a scalar it is the sum.
/// An output that is given for a reduced result may have shape [1], too.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct KlDiv<T = Tensor>(Call<T>);

impl<T> KlDiv<T> {
    /// KlDiv of what it needs:
    ///
    /// - `self_`: The prediction.
    /// - `target`: The truth.
    pub fn new(self_: impl Into<T>, target: impl Into<T>) -> Self {
        Self(Call::new("KlDiv").input("self", self_).input("target", target))
    }

    /// What is made of the losses of the elements. Default: mean.
    pub fn reduction(self, reduction: KlDivReduction) -> Self {
        Self(self.0.attribute("reduction", reduction))
    }

    /// Whether target is given as its logarithm. Default: false.
    pub fn log_target(self, log_target: bool) -> Self {
        Self(self.0.attribute("log_target", log_target))
    }
}

operator!(KlDiv, "out");

/// Gradient of KlDiv with respect to self.
///
/// ```text
/// out = -target * (grad_output * k); with log_target -exp(target) * (grad_output * k)
/// k = 1/n for reduction mean, n the number of elements of the result; k = 1 for none and sum. For batchmean n is the first extent of the result.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct KlDivBackward<T = Tensor>(Call<T>);

impl<T> KlDivBackward<T> {
    /// KlDivBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the loss's result; a scalar unless the reduction is none.
    /// - `self_`: The prediction.
    /// - `target`: The truth.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>, target: impl Into<T>) -> Self {
        Self(Call::new("KlDivBackward").input("grad_output", grad_output).input("self", self_).input("target", target))
    }

    /// What is made of the losses of the elements. Default: mean.
    pub fn reduction(self, reduction: KlDivReduction) -> Self {
        Self(self.0.attribute("reduction", reduction))
    }

    /// Whether target is given as its logarithm. Default: false.
    pub fn log_target(self, log_target: bool) -> Self {
        Self(self.0.attribute("log_target", log_target))
    }
}

operator!(KlDivBackward, "out");

/// Logistic loss of self against a target of -1 or 1.
///
/// ```text
/// loss = log(1 + exp(-target * self))
/// reduction none gives the loss of each element, mean their mean, sum their sum. An empty tensor has mean NaN and sum 0.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct SoftMarginLoss<T = Tensor>(Call<T>);

impl<T> SoftMarginLoss<T> {
    /// SoftMarginLoss of what it needs:
    ///
    /// - `self_`: The prediction.
    /// - `target`: The truth.
    pub fn new(self_: impl Into<T>, target: impl Into<T>) -> Self {
        Self(Call::new("SoftMarginLoss").input("self", self_).input("target", target))
    }

    /// What is made of the losses of the elements. Default: mean.
    pub fn reduction(self, reduction: Reduction) -> Self {
        Self(self.0.attribute("reduction", reduction))
    }
}

operator!(SoftMarginLoss, "out");

/// Gradient of SoftMarginLoss with respect to self.
///
/// ```text
/// out = -target * sigmoid(-target * self) * (grad_output * k)
/// k = 1/n for reduction mean, n the number of elements of the result; k = 1 for none and sum.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct SoftMarginLossBackward<T = Tensor>(Call<T>);

impl<T> SoftMarginLossBackward<T> {
    /// SoftMarginLossBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the loss's result; a scalar unless the reduction is none.
    /// - `self_`: The prediction.
    /// - `target`: The truth.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>, target: impl Into<T>) -> Self {
        Self(Call::new("SoftMarginLossBackward").input("grad_output", grad_output).input("self", self_).input("target", target))
    }

    /// What is made of the losses of the elements. Default: mean.
    pub fn reduction(self, reduction: Reduction) -> Self {
        Self(self.0.attribute("reduction", reduction))
    }
}

operator!(SoftMarginLossBackward, "out");

/// Cross entropy of a probability against a target in \[0, 1\].
///
/// ```text
/// loss = -weight * (target * log(self) + (1 - target) * log(1 - self))
/// Each logarithm counts as -100 where it is less. A self outside [0, 1] gives NaN, where PyTorch fails.
/// reduction none gives the loss of each element, mean their mean, sum their sum. An empty tensor has mean NaN and sum 0.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct BinaryCrossEntropy<T = Tensor>(Call<T>);

impl<T> BinaryCrossEntropy<T> {
    /// BinaryCrossEntropy of what it needs:
    ///
    /// - `self_`: The prediction.
    /// - `target`: The truth.
    pub fn new(self_: impl Into<T>, target: impl Into<T>) -> Self {
        Self(Call::new("BinaryCrossEntropy").input("self", self_).input("target", target))
    }

    /// Factor of the loss of each element; 1 when not given.
    pub fn weight(self, weight: impl Into<T>) -> Self {
        Self(self.0.input("weight", weight))
    }

    /// What is made of the losses of the elements. Default: mean.
    pub fn reduction(self, reduction: Reduction) -> Self {
        Self(self.0.attribute("reduction", reduction))
    }
}

operator!(BinaryCrossEntropy, "out");

/// Gradient of BinaryCrossEntropy with respect to self.
///
/// ```text
/// out = (self - target) / max((1 - self) * self, 1e-12) * weight * (grad_output * k)
/// k = 1/n for reduction mean, n the number of elements of the result; k = 1 for none and sum.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct BinaryCrossEntropyBackward<T = Tensor>(Call<T>);

impl<T> BinaryCrossEntropyBackward<T> {
    /// BinaryCrossEntropyBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the loss's result; a scalar unless the reduction is none.
    /// - `self_`: The prediction.
    /// - `target`: The truth.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>, target: impl Into<T>) -> Self {
        Self(Call::new("BinaryCrossEntropyBackward").input("grad_output", grad_output).input("self", self_).input("target", target))
    }

    /// Factor of the loss of each element; 1 when not given.
    pub fn weight(self, weight: impl Into<T>) -> Self {
        Self(self.0.input("weight", weight))
    }

    /// What is made of the losses of the elements. Default: mean.
    pub fn reduction(self, reduction: Reduction) -> Self {
        Self(self.0.attribute("reduction", reduction))
    }
}

operator!(BinaryCrossEntropyBackward, "out");

/// Cross entropy of the sigmoid of self against a target in \[0, 1\].
///
/// ```text
/// loss = weight * ((1 - target) * self + (pos_weight * target + 1 - target) * log(1 + exp(-self)))
/// reduction none gives the loss of each element, mean their mean, sum their sum. An empty tensor has mean NaN and sum 0.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct BinaryCrossEntropyWithLogits<T = Tensor>(Call<T>);

impl<T> BinaryCrossEntropyWithLogits<T> {
    /// BinaryCrossEntropyWithLogits of what it needs:
    ///
    /// - `self_`: The logits.
    /// - `target`: The truth.
    pub fn new(self_: impl Into<T>, target: impl Into<T>) -> Self {
        Self(Call::new("BinaryCrossEntropyWithLogits").input("self", self_).input("target", target))
    }

    /// Factor of the loss of each element; 1 when not given.
    pub fn weight(self, weight: impl Into<T>) -> Self {
        Self(self.0.input("weight", weight))
    }

    /// Factor of what a positive target adds; 1 when not given.
    pub fn pos_weight(self, pos_weight: impl Into<T>) -> Self {
        Self(self.0.input("pos_weight", pos_weight))
    }

    /// What is made of the losses of the elements. Default: mean.
    pub fn reduction(self, reduction: Reduction) -> Self {
        Self(self.0.attribute("reduction", reduction))
    }
}

operator!(BinaryCrossEntropyWithLogits, "out");

/// Gradient of BinaryCrossEntropyWithLogits with respect to self.
///
/// ```text
/// out = ((pos_weight * target + 1 - target) * sigmoid(self) - pos_weight * target) * weight * (grad_output * k)
/// k = 1/n for reduction mean, n the number of elements of the result; k = 1 for none and sum.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct BinaryCrossEntropyWithLogitsBackward<T = Tensor>(Call<T>);

impl<T> BinaryCrossEntropyWithLogitsBackward<T> {
    /// BinaryCrossEntropyWithLogitsBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the loss's result; a scalar unless the reduction is none.
    /// - `self_`: The logits.
    /// - `target`: The truth.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>, target: impl Into<T>) -> Self {
        Self(Call::new("BinaryCrossEntropyWithLogitsBackward").input("grad_output", grad_output).input("self", self_).input("target", target))
    }

    /// Factor of the loss of each element; 1 when not given.
    pub fn weight(self, weight: impl Into<T>) -> Self {
        Self(self.0.input("weight", weight))
    }

    /// Factor of what a positive target adds; 1 when not given.
    pub fn pos_weight(self, pos_weight: impl Into<T>) -> Self {
        Self(self.0.input("pos_weight", pos_weight))
    }

    /// What is made of the losses of the elements. Default: mean.
    pub fn reduction(self, reduction: Reduction) -> Self {
        Self(self.0.attribute("reduction", reduction))
    }
}

operator!(BinaryCrossEntropyWithLogitsBackward, "out");

/// Gradient of BinaryCrossEntropyWithLogits with respect to target.
///
/// ```text
/// grad_target = ((pos_weight - 1) * log(1 + exp(-self)) - self) * weight * (grad_output * k)
/// k = 1/n for reduction mean, n the number of elements of the result; k = 1 for none and sum.
/// target itself decides nothing but the shape.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct BinaryCrossEntropyWithLogitsTargetBackward<T = Tensor>(Call<T>);

impl<T> BinaryCrossEntropyWithLogitsTargetBackward<T> {
    /// BinaryCrossEntropyWithLogitsTargetBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the loss's result; a scalar unless the reduction is none.
    /// - `self_`: The logits.
    /// - `target`: The truth.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>, target: impl Into<T>) -> Self {
        Self(Call::new("BinaryCrossEntropyWithLogitsTargetBackward").input("grad_output", grad_output).input("self", self_).input("target", target))
    }

    /// Factor of the loss of each element; 1 when not given.
    pub fn weight(self, weight: impl Into<T>) -> Self {
        Self(self.0.input("weight", weight))
    }

    /// Factor of what a positive target adds; 1 when not given.
    pub fn pos_weight(self, pos_weight: impl Into<T>) -> Self {
        Self(self.0.input("pos_weight", pos_weight))
    }

    /// What is made of the losses of the elements. Default: mean.
    pub fn reduction(self, reduction: Reduction) -> Self {
        Self(self.0.attribute("reduction", reduction))
    }
}

operator!(BinaryCrossEntropyWithLogitsTargetBackward, "grad_target");

/// Negative log likelihood of the classes in target.
///
/// ```text
/// loss = -weight[t] * self[t] of each sample, t its class in target; 0 where t is ignore_index
/// reduction none gives the loss of each sample, sum their sum, mean their sum over the sum of their weights: NaN where no target counts. total_weight is that sum, and 0 for reduction none.
/// A target that is no class and not ignore_index is an error, and nothing is written.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct NLLLoss<T = Tensor>(Call<T>);

impl<T> NLLLoss<T> {
    /// NLLLoss of what it needs:
    ///
    /// - `self_`: Logarithms of the probabilities of the classes.
    /// - `target`: The class of each sample, in \[0, C), or ignore_index.
    pub fn new(self_: impl Into<T>, target: impl Into<T>) -> Self {
        Self(Call::new("NLLLoss").input("self", self_).input("target", target))
    }

    /// Weight of each class; 1 when not given.
    pub fn weight(self, weight: impl Into<T>) -> Self {
        Self(self.0.input("weight", weight))
    }

    /// What is made of the losses of the elements. Default: mean.
    pub fn reduction(self, reduction: Reduction) -> Self {
        Self(self.0.attribute("reduction", reduction))
    }

    /// The class of targets that do not count. Default: -100.
    pub fn ignore_index(self, ignore_index: i64) -> Self {
        Self(self.0.attribute("ignore_index", ignore_index))
    }
}

/// What [`NLLLoss`] gives.
#[derive(Clone, Debug)]
pub struct NLLLossOutputs<T = Tensor> {
    /// The loss.
    pub out: T,
    /// Sum of the weights of the targets; 0 for reduction none.
    pub total_weight: T,
}

operator!(NLLLoss, NLLLossOutputs { out, total_weight });

/// Gradient of NLLLoss with respect to self.
///
/// ```text
/// out[t] = -weight[t] * grad_output of each sample, t its class in target, divided by total_weight for reduction mean; 0 of all other classes, and where t is ignore_index
/// A target that is no class and not ignore_index is an error, and nothing is written.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct NLLLossBackward<T = Tensor>(Call<T>);

impl<T> NLLLossBackward<T> {
    /// NLLLossBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of out.
    /// - `self_`: Logarithms of the probabilities of the classes.
    /// - `target`: The class of each sample, in \[0, C), or ignore_index.
    /// - `total_weight`: The forward's total_weight.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>, target: impl Into<T>, total_weight: impl Into<T>) -> Self {
        Self(Call::new("NLLLossBackward").input("grad_output", grad_output).input("self", self_).input("target", target).input("total_weight", total_weight))
    }

    /// Weight of each class; 1 when not given.
    pub fn weight(self, weight: impl Into<T>) -> Self {
        Self(self.0.input("weight", weight))
    }

    /// What is made of the losses of the elements. Default: mean.
    pub fn reduction(self, reduction: Reduction) -> Self {
        Self(self.0.attribute("reduction", reduction))
    }

    /// The class of targets that do not count. Default: -100.
    pub fn ignore_index(self, ignore_index: i64) -> Self {
        Self(self.0.attribute("ignore_index", ignore_index))
    }
}

operator!(NLLLossBackward, "out");

/// Negative log likelihood of the class of each pixel.
///
/// ```text
/// loss = -weight[t] * self[t] of each sample, t its class in target; 0 where t is ignore_index
/// reduction none gives the loss of each sample, sum their sum, mean their sum over the sum of their weights: NaN where no target counts. total_weight is that sum, and 0 for reduction none.
/// A target that is no class and not ignore_index is an error, and nothing is written.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct NLLLoss2d<T = Tensor>(Call<T>);

impl<T> NLLLoss2d<T> {
    /// NLLLoss2d of what it needs:
    ///
    /// - `self_`: Logarithms of the probabilities of the classes.
    /// - `target`: The class of each sample, in \[0, C), or ignore_index.
    pub fn new(self_: impl Into<T>, target: impl Into<T>) -> Self {
        Self(Call::new("NLLLoss2d").input("self", self_).input("target", target))
    }

    /// Weight of each class; 1 when not given.
    pub fn weight(self, weight: impl Into<T>) -> Self {
        Self(self.0.input("weight", weight))
    }

    /// What is made of the losses of the elements. Default: mean.
    pub fn reduction(self, reduction: Reduction) -> Self {
        Self(self.0.attribute("reduction", reduction))
    }

    /// The class of targets that do not count. Default: -100.
    pub fn ignore_index(self, ignore_index: i64) -> Self {
        Self(self.0.attribute("ignore_index", ignore_index))
    }
}

/// What [`NLLLoss2d`] gives.
#[derive(Clone, Debug)]
pub struct NLLLoss2dOutputs<T = Tensor> {
    /// The loss.
    pub out: T,
    /// Sum of the weights of the targets; 0 for reduction none.
    pub total_weight: T,
}

operator!(NLLLoss2d, NLLLoss2dOutputs { out, total_weight });

/// Gradient of NLLLoss2d with respect to self.
///
/// ```text
/// out[t] = -weight[t] * grad_output of each sample, t its class in target, divided by total_weight for reduction mean; 0 of all other classes, and where t is ignore_index
/// A target that is no class and not ignore_index is an error, and nothing is written.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct NLLLoss2dBackward<T = Tensor>(Call<T>);

impl<T> NLLLoss2dBackward<T> {
    /// NLLLoss2dBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of out.
    /// - `self_`: Logarithms of the probabilities of the classes.
    /// - `target`: The class of each sample, in \[0, C), or ignore_index.
    /// - `total_weight`: The forward's total_weight.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>, target: impl Into<T>, total_weight: impl Into<T>) -> Self {
        Self(Call::new("NLLLoss2dBackward").input("grad_output", grad_output).input("self", self_).input("target", target).input("total_weight", total_weight))
    }

    /// Weight of each class; 1 when not given.
    pub fn weight(self, weight: impl Into<T>) -> Self {
        Self(self.0.input("weight", weight))
    }

    /// What is made of the losses of the elements. Default: mean.
    pub fn reduction(self, reduction: Reduction) -> Self {
        Self(self.0.attribute("reduction", reduction))
    }

    /// The class of targets that do not count. Default: -100.
    pub fn ignore_index(self, ignore_index: i64) -> Self {
        Self(self.0.attribute("ignore_index", ignore_index))
    }
}

operator!(NLLLoss2dBackward, "out");

/// Cross entropy of classes and what a model says of each.
///
/// ```text
/// log_prob = LogSoftmax(self) along C
/// loss = -(1 - e) * weight[t] * log_prob[t] - e / C * sum of weight * log_prob over C, of each sample, t its class in target and e label_smoothing; 0 where t is ignore_index
/// reduction none gives the loss of each sample, sum their sum, mean their sum over the sum of weight[t]: NaN where no target counts.
/// A target that is no class and not ignore_index is an error, and nothing is written. There is no z-loss, whose arguments and results must be left out.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct CrossEntropyLoss<T = Tensor>(Call<T>);

impl<T> CrossEntropyLoss<T> {
    /// CrossEntropyLoss of what it needs:
    ///
    /// - `self_`: A number of each class of each sample.
    /// - `target`: The class of each sample, in \[0, C), or ignore_index.
    pub fn new(self_: impl Into<T>, target: impl Into<T>) -> Self {
        Self(Call::new("CrossEntropyLoss").input("self", self_).input("target", target))
    }

    /// Weight of each class; 1 when not given.
    pub fn weight(self, weight: impl Into<T>) -> Self {
        Self(self.0.input("weight", weight))
    }

    /// What is made of the losses of the elements. Default: mean.
    pub fn reduction(self, reduction: Reduction) -> Self {
        Self(self.0.attribute("reduction", reduction))
    }

    /// The class of targets that do not count. Default: -100.
    pub fn ignore_index(self, ignore_index: i64) -> Self {
        Self(self.0.attribute("ignore_index", ignore_index))
    }

    /// The share of a sample's weight that all classes have alike. Default: 0.0.
    pub fn label_smoothing(self, label_smoothing: f64) -> Self {
        Self(self.0.attribute("label_smoothing", label_smoothing))
    }

    /// Must be 0: there is no z-loss. Default: 0.0.
    pub fn lse_square_scale_for_zloss(self, lse_square_scale_for_zloss: f64) -> Self {
        Self(self.0.attribute("lse_square_scale_for_zloss", lse_square_scale_for_zloss))
    }

    /// Must be false: there is no z-loss. Default: false.
    pub fn return_zloss(self, return_zloss: bool) -> Self {
        Self(self.0.attribute("return_zloss", return_zloss))
    }
}

/// What [`CrossEntropyLoss`] gives.
#[derive(Clone, Debug)]
pub struct CrossEntropyLossOutputs<T = Tensor> {
    /// The loss.
    pub loss: T,
    /// Logarithms of the probabilities of the classes.
    pub log_prob: T,
    /// Not computed. Of shape \[0\] where it was not asked for.
    pub zloss: T,
    /// Not computed. Of shape \[0\] where it was not asked for.
    pub lse_for_zloss: T,
}

operator!(CrossEntropyLoss, CrossEntropyLossOutputs { loss, log_prob, zloss, lse_for_zloss });

/// Gradient of CrossEntropyLoss with respect to self.
///
/// ```text
/// out = k * (exp(log_prob) * ((1 - e) * weight[t] + e / C * sum of weight) - e / C * weight), less k * (1 - e) * weight[t] at t, of each sample, t its class in target and e label_smoothing; 0 where t is ignore_index
/// k = grad_loss, for reduction mean divided by the sum of weight[t] over the samples that count.
/// A target that is no class and not ignore_index is an error, and nothing is written.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct CrossEntropyLossGrad<T = Tensor>(Call<T>);

impl<T> CrossEntropyLossGrad<T> {
    /// CrossEntropyLossGrad of what it needs:
    ///
    /// - `grad_loss`: Gradient of loss.
    /// - `log_prob`: The forward's log_prob.
    /// - `target`: The class of each sample, in \[0, C), or ignore_index.
    pub fn new(grad_loss: impl Into<T>, log_prob: impl Into<T>, target: impl Into<T>) -> Self {
        Self(Call::new("CrossEntropyLossGrad").input("grad_loss", grad_loss).input("log_prob", log_prob).input("target", target))
    }

    /// Weight of each class; 1 when not given.
    pub fn weight(self, weight: impl Into<T>) -> Self {
        Self(self.0.input("weight", weight))
    }

    /// Must be left out: there is no z-loss.
    pub fn grad_zloss(self, grad_zloss: impl Into<T>) -> Self {
        Self(self.0.input("grad_zloss", grad_zloss))
    }

    /// Must be left out: there is no z-loss.
    pub fn lse_for_zloss(self, lse_for_zloss: impl Into<T>) -> Self {
        Self(self.0.input("lse_for_zloss", lse_for_zloss))
    }

    /// What is made of the losses of the elements. Default: mean.
    pub fn reduction(self, reduction: Reduction) -> Self {
        Self(self.0.attribute("reduction", reduction))
    }

    /// The class of targets that do not count. Default: -100.
    pub fn ignore_index(self, ignore_index: i64) -> Self {
        Self(self.0.attribute("ignore_index", ignore_index))
    }

    /// The share of a sample's weight that all classes have alike. Default: 0.0.
    pub fn label_smoothing(self, label_smoothing: f64) -> Self {
        Self(self.0.attribute("label_smoothing", label_smoothing))
    }

    /// Must be 0: there is no z-loss. Default: 0.0.
    pub fn lse_square_scale_for_zloss(self, lse_square_scale_for_zloss: f64) -> Self {
        Self(self.0.attribute("lse_square_scale_for_zloss", lse_square_scale_for_zloss))
    }
}

operator!(CrossEntropyLossGrad, "out");

/// Connectionist temporal classification loss: how unlikely the labels are, over all alignments.
///
/// ```text
/// l' is a sample's labels with blanks between and around. log_alpha[n][t][s] is the logarithm of the probability of all alignments of l'_0 to l'_s with the first t + 1 steps; -inf for s beyond l' and t beyond the sample's steps.
/// neg_log_likelihood = -logsumexp(log_alpha of the last two s at the last step); without steps 0 when there are no labels, else +inf. It stays +inf under zero_infinity, where PyTorch's module would put 0.
/// Every profile but host wants N > 0.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct CtcLoss<T = Tensor>(Call<T>);

impl<T> CtcLoss<T> {
    /// CtcLoss of what it needs:
    ///
    /// - `log_probs`: Logarithms of the probabilities of the classes.
    /// - `targets`: Labels in \[0, C), whole numbers.
    /// - `input_lengths`: Time steps of each sample, at most T.
    /// - `target_lengths`: Labels of each sample.
    pub fn new(log_probs: impl Into<T>, targets: impl Into<T>, input_lengths: impl Into<Vec<i64>>, target_lengths: impl Into<Vec<i64>>) -> Self {
        Self(Call::new("CtcLoss").input("log_probs", log_probs).input("targets", targets).attribute("input_lengths", Attribute::Ints(input_lengths.into())).attribute("target_lengths", Attribute::Ints(target_lengths.into())))
    }

    /// The class that stands for no label, below C. Default: 0.
    pub fn blank(self, blank: i64) -> Self {
        Self(self.0.attribute("blank", blank))
    }

    /// Whether samples of infinite loss have gradient 0, not NaN. Default: false.
    pub fn zero_infinity(self, zero_infinity: bool) -> Self {
        Self(self.0.attribute("zero_infinity", zero_infinity))
    }
}

/// What [`CtcLoss`] gives.
#[derive(Clone, Debug)]
pub struct CtcLossOutputs<T = Tensor> {
    /// The loss of each sample.
    pub neg_log_likelihood: T,
    /// Forward variables in log space.
    pub log_alpha: T,
}

operator!(CtcLoss, CtcLossOutputs { neg_log_likelihood, log_alpha });

/// Gradient of CtcLoss with respect to the logits before log_softmax.
///
/// ```text
/// beta[t][s] is the backward recursion in log space over the labels with blanks between and around; res[t][c] is the logsumexp of log_alpha + beta over the s whose label is c.
/// grad = (exp(log_probs) - exp(res + neg_log_likelihood - log_probs)) * grad_out for the steps of a sample, 0 beyond. log_alpha and neg_log_likelihood are taken as given.
/// A sample of infinite loss has gradient 0 with zero_infinity, else NaN. log_probs = -inf gives NaN at its class. A label equal to blank counts as any other, where PyTorch forgets a term at the last step.
/// Every profile but host wants N > 0.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct CtcLossBackward<T = Tensor>(Call<T>);

impl<T> CtcLossBackward<T> {
    /// CtcLossBackward of what it needs:
    ///
    /// - `grad_out`: Gradient of each sample's loss.
    /// - `log_probs`: Logarithms of the probabilities of the classes.
    /// - `targets`: Labels in \[0, C), whole numbers.
    /// - `neg_log_likelihood`: The loss of each sample.
    /// - `log_alpha`: Forward variables in log space.
    /// - `input_lengths`: Time steps of each sample, at most T.
    /// - `target_lengths`: Labels of each sample.
    pub fn new(grad_out: impl Into<T>, log_probs: impl Into<T>, targets: impl Into<T>, neg_log_likelihood: impl Into<T>, log_alpha: impl Into<T>, input_lengths: impl Into<Vec<i64>>, target_lengths: impl Into<Vec<i64>>) -> Self {
        Self(Call::new("CtcLossBackward").input("grad_out", grad_out).input("log_probs", log_probs).input("targets", targets).input("neg_log_likelihood", neg_log_likelihood).input("log_alpha", log_alpha).attribute("input_lengths", Attribute::Ints(input_lengths.into())).attribute("target_lengths", Attribute::Ints(target_lengths.into())))
    }

    /// The class that stands for no label, below C. Default: 0.
    pub fn blank(self, blank: i64) -> Self {
        Self(self.0.attribute("blank", blank))
    }

    /// Whether samples of infinite loss have gradient 0, not NaN. Default: false.
    pub fn zero_infinity(self, zero_infinity: bool) -> Self {
        Self(self.0.attribute("zero_infinity", zero_infinity))
    }
}

operator!(CtcLossBackward, "grad");

/// The input, with values near zero set to zero.
///
/// ```text
/// out = 0 where |self| <= lambd, self elsewhere
/// lambd < 0 counts as 0 and is rounded to self's dtype first. A NaN self or lambd lets self pass.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Hardshrink<T = Tensor>(Call<T>);

impl<T> Hardshrink<T> {
    /// Hardshrink of what it needs:
    ///
    /// - `self_`: The input.
    /// - `lambd`: Half the width of the dead zone; below 0 it counts as 0.
    pub fn new(self_: impl Into<T>, lambd: impl Into<Attribute>) -> Self {
        Self(Call::new("Hardshrink").input("self", self_).attribute("lambd", lambd))
    }
}

operator!(Hardshrink, "out");

/// Gradient of Hardshrink.
///
/// ```text
/// grad_input = 0 where |self| <= lambd, grad_output elsewhere
/// lambd is rounded to the promoted dtype of the inputs first. A NaN self or lambd lets the gradient pass; an infinite gradient in the dead zone gives 0.
/// Unlike PyTorch, lambd < 0 counts as 0, and NaN is treated alike in every position of a tensor.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct HardshrinkBackward<T = Tensor>(Call<T>);

impl<T> HardshrinkBackward<T> {
    /// HardshrinkBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of Hardshrink's result.
    /// - `self_`: The input of Hardshrink.
    /// - `lambd`: Half the width of the dead zone; below 0 it counts as 0.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>, lambd: impl Into<Attribute>) -> Self {
        Self(Call::new("HardshrinkBackward").input("grad_output", grad_output).input("self", self_).attribute("lambd", lambd))
    }
}

operator!(HardshrinkBackward, "grad_input");

/// The logistic function of each element.
///
/// ```text
/// out = 1 / (1 + exp(-self))
/// A NaN gives NaN; -inf gives 0, +inf 1.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Sigmoid<T = Tensor>(Call<T>);

impl<T> Sigmoid<T> {
    /// Sigmoid of what it needs:
    ///
    /// - `self_`: The input.
    pub fn new(self_: impl Into<T>) -> Self {
        Self(Call::new("Sigmoid").input("self", self_))
    }
}

operator!(Sigmoid, "out");

/// Gradient of Sigmoid, from its result.
///
/// ```text
/// grad_input = (grad_output * (1 - output)) * output
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct SigmoidBackward<T = Tensor>(Call<T>);

impl<T> SigmoidBackward<T> {
    /// SigmoidBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `output`: The forward's result.
    pub fn new(grad_output: impl Into<T>, output: impl Into<T>) -> Self {
        Self(Call::new("SigmoidBackward").input("grad_output", grad_output).input("output", output))
    }
}

operator!(SigmoidBackward, "grad_input");

/// The hyperbolic tangent of each element.
///
/// ```text
/// out = tanh(self)
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Tanh<T = Tensor>(Call<T>);

impl<T> Tanh<T> {
    /// Tanh of what it needs:
    ///
    /// - `self_`: The input.
    pub fn new(self_: impl Into<T>) -> Self {
        Self(Call::new("Tanh").input("self", self_))
    }
}

operator!(Tanh, "out");

/// Gradient of Tanh, from its result.
///
/// ```text
/// grad_input = grad_output * (1 - output * output)
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct TanhBackward<T = Tensor>(Call<T>);

impl<T> TanhBackward<T> {
    /// TanhBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `output`: The forward's result.
    pub fn new(grad_output: impl Into<T>, output: impl Into<T>) -> Self {
        Self(Call::new("TanhBackward").input("grad_output", grad_output).input("output", output))
    }
}

operator!(TanhBackward, "grad_input");

/// The sigmoid linear unit: each element times its sigmoid.
///
/// ```text
/// out = self * sigmoid(self)
/// -inf gives NaN.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Silu<T = Tensor>(Call<T>);

impl<T> Silu<T> {
    /// Silu of what it needs:
    ///
    /// - `self_`: The input.
    pub fn new(self_: impl Into<T>) -> Self {
        Self(Call::new("Silu").input("self", self_))
    }
}

operator!(Silu, "out");

/// Gradient of Silu.
///
/// ```text
/// s = sigmoid(self)
/// grad_input = grad_output * (s + self * s * (1 - s))
/// An infinite self gives NaN.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct SiluBackward<T = Tensor>(Call<T>);

impl<T> SiluBackward<T> {
    /// SiluBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_`: The forward's input.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>) -> Self {
        Self(Call::new("SiluBackward").input("grad_output", grad_output).input("self", self_))
    }
}

operator!(SiluBackward, "grad_input");

/// Each element times the sigmoid of its multiple.
///
/// ```text
/// out = self * sigmoid(beta * self)
/// beta is taken as float32.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Swish<T = Tensor>(Call<T>);

impl<T> Swish<T> {
    /// Swish of what it needs:
    ///
    /// - `self_`: The input.
    pub fn new(self_: impl Into<T>) -> Self {
        Self(Call::new("Swish").input("self", self_))
    }

    /// Factor of self inside the sigmoid. Default: 1.0.
    pub fn beta(self, beta: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("beta", beta))
    }
}

operator!(Swish, "out");

/// Gradient of Swish.
///
/// ```text
/// z = beta * self, s = sigmoid(z)
/// grad_input = grad_output * (s + z * s * (1 - s))
/// beta is taken as float32.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct SwishBackward<T = Tensor>(Call<T>);

impl<T> SwishBackward<T> {
    /// SwishBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_`: The forward's input.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>) -> Self {
        Self(Call::new("SwishBackward").input("grad_output", grad_output).input("self", self_))
    }

    /// Factor of self inside the sigmoid. Default: 1.0.
    pub fn beta(self, beta: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("beta", beta))
    }
}

operator!(SwishBackward, "grad_input");

/// Each element times the hyperbolic tangent of its softplus.
///
/// ```text
/// out = self * tanh(log(1 + exp(self)))
/// -inf gives NaN.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Mish<T = Tensor>(Call<T>);

impl<T> Mish<T> {
    /// Mish of what it needs:
    ///
    /// - `self_`: The input.
    pub fn new(self_: impl Into<T>) -> Self {
        Self(Call::new("Mish").input("self", self_))
    }
}

operator!(Mish, "out");

/// Gradient of Mish.
///
/// ```text
/// t = tanh(log(1 + exp(self)))
/// grad_input = grad_output * (t + self * sigmoid(self) * (1 - t * t))
/// An infinite self gives NaN.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct MishBackward<T = Tensor>(Call<T>);

impl<T> MishBackward<T> {
    /// MishBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_`: The forward's input.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>) -> Self {
        Self(Call::new("MishBackward").input("grad_output", grad_output).input("self", self_))
    }
}

operator!(MishBackward, "grad_input");

/// The Gaussian error linear unit.
///
/// ```text
/// out = self * P(self), P the standard normal distribution function
/// -inf gives NaN.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Gelu<T = Tensor>(Call<T>);

impl<T> Gelu<T> {
    /// Gelu of what it needs:
    ///
    /// - `self_`: The input.
    pub fn new(self_: impl Into<T>) -> Self {
        Self(Call::new("Gelu").input("self", self_))
    }
}

operator!(Gelu, "out");

/// Gradient of Gelu.
///
/// ```text
/// grad_input = grad_output * (P(self) + self * p(self)), P the standard normal distribution function and p its density
/// An infinite self gives NaN.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct GeluBackward<T = Tensor>(Call<T>);

impl<T> GeluBackward<T> {
    /// GeluBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_`: The forward's input.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>) -> Self {
        Self(Call::new("GeluBackward").input("grad_output", grad_output).input("self", self_))
    }
}

operator!(GeluBackward, "grad_input");

/// The Gaussian error linear unit, exact or by tanh.
///
/// ```text
/// With approximate none out = self * P(self), P the standard normal distribution function.
/// With approximate tanh out = self * (1 + tanh(sqrt(2 / pi) * (self + 0.044715 * self^3))) / 2.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct GeluV2<T = Tensor>(Call<T>);

impl<T> GeluV2<T> {
    /// GeluV2 of what it needs:
    ///
    /// - `self_`: The input.
    pub fn new(self_: impl Into<T>) -> Self {
        Self(Call::new("GeluV2").input("self", self_))
    }

    /// How the distribution function is computed. Default: none.
    pub fn approximate(self, approximate: Approximate) -> Self {
        Self(self.0.attribute("approximate", approximate))
    }
}

operator!(GeluV2, "out");

/// Gradient of GeluV2.
///
/// ```text
/// grad_output times the derivative of what GeluV2 computes with the same approximate. An infinite self gives NaN.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct GeluBackwardV2<T = Tensor>(Call<T>);

impl<T> GeluBackwardV2<T> {
    /// GeluBackwardV2 of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_`: The forward's input.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>) -> Self {
        Self(Call::new("GeluBackwardV2").input("grad_output", grad_output).input("self", self_))
    }

    /// How the distribution function is computed. Default: none.
    pub fn approximate(self, approximate: Approximate) -> Self {
        Self(self.0.attribute("approximate", approximate))
    }
}

operator!(GeluBackwardV2, "grad_input");

/// A piecewise linear sigmoid.
///
/// ```text
/// out = min(max(self + 3, 0), 6) / 6
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Hardsigmoid<T = Tensor>(Call<T>);

impl<T> Hardsigmoid<T> {
    /// Hardsigmoid of what it needs:
    ///
    /// - `self_`: The input.
    pub fn new(self_: impl Into<T>) -> Self {
        Self(Call::new("Hardsigmoid").input("self", self_))
    }
}

operator!(Hardsigmoid, "out");

/// Gradient of Hardsigmoid.
///
/// ```text
/// out = grad_output / 6 where -3 < self < 3, 0 elsewhere
/// A NaN self gives 0.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct HardsigmoidBackward<T = Tensor>(Call<T>);

impl<T> HardsigmoidBackward<T> {
    /// HardsigmoidBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_`: The forward's input.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>) -> Self {
        Self(Call::new("HardsigmoidBackward").input("grad_output", grad_output).input("self", self_))
    }
}

operator!(HardsigmoidBackward, "out");

/// Each element times a piecewise linear sigmoid.
///
/// ```text
/// out = self * min(max(self + 3, 0), 6) / 6
/// -inf gives NaN.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Hardswish<T = Tensor>(Call<T>);

impl<T> Hardswish<T> {
    /// Hardswish of what it needs:
    ///
    /// - `self_`: The input.
    pub fn new(self_: impl Into<T>) -> Self {
        Self(Call::new("Hardswish").input("self", self_))
    }
}

operator!(Hardswish, "out");

/// Gradient of Hardswish.
///
/// ```text
/// out = 0 where self <= -3, grad_output where self >= 3, grad_output * (self / 3 + 1/2) between
/// A NaN self gives NaN in every position of a tensor.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct HardswishBackward<T = Tensor>(Call<T>);

impl<T> HardswishBackward<T> {
    /// HardswishBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_`: The forward's input.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>) -> Self {
        Self(Call::new("HardswishBackward").input("grad_output", grad_output).input("self", self_))
    }
}

operator!(HardswishBackward, "out");

/// Each element held to a range.
///
/// ```text
/// out = min(max(self, clip_value_min), clip_value_max)
/// Where clip_value_min > clip_value_max the result is clip_value_max. Both are taken as float32.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Hardtanh<T = Tensor>(Call<T>);

impl<T> Hardtanh<T> {
    /// Hardtanh of what it needs:
    ///
    /// - `self_`: The input.
    pub fn new(self_: impl Into<T>) -> Self {
        Self(Call::new("Hardtanh").input("self", self_))
    }

    /// Least value of the result. Default: -1.0.
    pub fn clip_value_min(self, clip_value_min: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("clip_value_min", clip_value_min))
    }

    /// Largest value of the result. Default: 1.0.
    pub fn clip_value_max(self, clip_value_max: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("clip_value_max", clip_value_max))
    }
}

operator!(Hardtanh, "out");

/// Gradient of Hardtanh.
///
/// ```text
/// out = 0 where self <= min or self >= max, grad_output elsewhere
/// A NaN self lets the gradient pass, in every position of a tensor. min and max are taken as float32.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct HardtanhBackward<T = Tensor>(Call<T>);

impl<T> HardtanhBackward<T> {
    /// HardtanhBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_`: The forward's input.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>) -> Self {
        Self(Call::new("HardtanhBackward").input("grad_output", grad_output).input("self", self_))
    }

    /// The forward's clip_value_min. Default: -1.0.
    pub fn min(self, min: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("min", min))
    }

    /// The forward's clip_value_max. Default: 1.0.
    pub fn max(self, max: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("max", max))
    }
}

operator!(HardtanhBackward, "out");

/// The scaled exponential linear unit.
///
/// ```text
/// out = scale * self where self > 0, scale * alpha * (exp(self) - 1) elsewhere
/// alpha = 1.6732632423543773, scale = 1.0507009873554805 (Klambauer et al., Self-Normalizing Neural Networks, 2017).
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Selu<T = Tensor>(Call<T>);

impl<T> Selu<T> {
    /// Selu of what it needs:
    ///
    /// - `self_`: The input.
    pub fn new(self_: impl Into<T>) -> Self {
        Self(Call::new("Selu").input("self", self_))
    }
}

operator!(Selu, "out");

/// Gradient of Selu, from its result.
///
/// ```text
/// grad_input = grad_output * scale where result > 0, grad_output * (result + scale * alpha) elsewhere
/// alpha and scale are those of Selu.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct SeluBackward<T = Tensor>(Call<T>);

impl<T> SeluBackward<T> {
    /// SeluBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `result`: The forward's result.
    pub fn new(grad_output: impl Into<T>, result: impl Into<T>) -> Self {
        Self(Call::new("SeluBackward").input("grad_output", grad_output).input("result", result))
    }
}

operator!(SeluBackward, "grad_input");

/// The exponential linear unit.
///
/// ```text
/// out = scale * self where self > 0, scale * alpha * (exp(input_scale * self) - 1) elsewhere
/// alpha, scale and input_scale are taken as float32.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Elu<T = Tensor>(Call<T>);

impl<T> Elu<T> {
    /// Elu of what it needs:
    ///
    /// - `self_`: The input.
    pub fn new(self_: impl Into<T>) -> Self {
        Self(Call::new("Elu").input("self", self_))
    }

    /// What the result tends to below 0, before scale; its negative. Default: 1.0.
    pub fn alpha(self, alpha: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("alpha", alpha))
    }

    /// Factor of the result. Default: 1.0.
    pub fn scale(self, scale: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("scale", scale))
    }

    /// Factor of self in the exponential. Default: 1.0.
    pub fn input_scale(self, input_scale: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("input_scale", input_scale))
    }
}

operator!(Elu, "out");

/// Gradient of Elu, from its input or from its result.
///
/// ```text
/// With x = self_or_result: where x > 0 grad_input = grad_output * scale. Elsewhere grad_input = grad_output * scale * alpha * input_scale * exp(input_scale * x), or with is_result grad_output * input_scale * (x + scale * alpha).
/// alpha < 0 with is_result is an error. A NaN x gives NaN in every position of a tensor. alpha, scale and input_scale are taken as float32.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct EluBackward<T = Tensor>(Call<T>);

impl<T> EluBackward<T> {
    /// EluBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_or_result`: The forward's input, or its result where is_result.
    pub fn new(grad_output: impl Into<T>, self_or_result: impl Into<T>) -> Self {
        Self(Call::new("EluBackward").input("grad_output", grad_output).input("self_or_result", self_or_result))
    }

    /// What the result tends to below 0, before scale; its negative. Default: 1.0.
    pub fn alpha(self, alpha: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("alpha", alpha))
    }

    /// Factor of the result. Default: 1.0.
    pub fn scale(self, scale: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("scale", scale))
    }

    /// Factor of self in the exponential. Default: 1.0.
    pub fn input_scale(self, input_scale: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("input_scale", input_scale))
    }

    /// Whether self_or_result is the forward's result. Default: false.
    pub fn is_result(self, is_result: bool) -> Self {
        Self(self.0.attribute("is_result", is_result))
    }
}

operator!(EluBackward, "grad_input");

/// The rectified linear unit with a slope below 0.
///
/// ```text
/// out = self where self > 0, negative_slope * self elsewhere
/// negative_slope is taken as float32.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct LeakyRelu<T = Tensor>(Call<T>);

impl<T> LeakyRelu<T> {
    /// LeakyRelu of what it needs:
    ///
    /// - `self_`: The input.
    pub fn new(self_: impl Into<T>) -> Self {
        Self(Call::new("LeakyRelu").input("self", self_))
    }

    /// Factor of what is not positive. Default: 0.01.
    pub fn negative_slope(self, negative_slope: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("negative_slope", negative_slope))
    }
}

operator!(LeakyRelu, "out");

/// Gradient of LeakyRelu.
///
/// ```text
/// out = grad_output where self > 0, negative_slope * grad_output elsewhere
/// self may be the result of the forward, which has the same sign; a negative slope with self_is_result is an error. negative_slope is taken as float32.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct LeakyReluBackward<T = Tensor>(Call<T>);

impl<T> LeakyReluBackward<T> {
    /// LeakyReluBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_`: The forward's input.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>) -> Self {
        Self(Call::new("LeakyReluBackward").input("grad_output", grad_output).input("self", self_))
    }

    /// Factor of what is not positive. Default: 0.01.
    pub fn negative_slope(self, negative_slope: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("negative_slope", negative_slope))
    }

    /// Whether self is the forward's result. Default: false.
    pub fn self_is_result(self, self_is_result: bool) -> Self {
        Self(self.0.attribute("self_is_result", self_is_result))
    }
}

operator!(LeakyReluBackward, "out");

/// Elements above a threshold; a value in place of the others.
///
/// ```text
/// out = value where self <= threshold, self elsewhere
/// A NaN passes. threshold and value are taken as float32.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Threshold<T = Tensor>(Call<T>);

impl<T> Threshold<T> {
    /// Threshold of what it needs:
    ///
    /// - `self_`: The input.
    /// - `threshold`: What an element must exceed to pass.
    /// - `value`: Result of an element that does not.
    pub fn new(self_: impl Into<T>, threshold: impl Into<Attribute>, value: impl Into<Attribute>) -> Self {
        Self(Call::new("Threshold").input("self", self_).attribute("threshold", threshold).attribute("value", value))
    }
}

operator!(Threshold, "out");

/// The rectified linear unit.
///
/// ```text
/// out = 0 where self <= 0, self elsewhere
/// A NaN passes.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Relu<T = Tensor>(Call<T>);

impl<T> Relu<T> {
    /// Relu of what it needs:
    ///
    /// - `self_`: The input.
    pub fn new(self_: impl Into<T>) -> Self {
        Self(Call::new("Relu").input("self", self_))
    }
}

operator!(Relu, "out");

/// Gradient of Threshold and, with threshold 0, of Relu.
///
/// ```text
/// out = 0 where self <= threshold, grad_output elsewhere
/// A NaN self lets the gradient pass. threshold is taken as float32. For Relu self may also be the result.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct ThresholdBackward<T = Tensor>(Call<T>);

impl<T> ThresholdBackward<T> {
    /// ThresholdBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_`: The forward's input.
    /// - `threshold`: What an element must exceed to pass.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>, threshold: impl Into<Attribute>) -> Self {
        Self(Call::new("ThresholdBackward").input("grad_output", grad_output).input("self", self_).attribute("threshold", threshold))
    }
}

operator!(ThresholdBackward, "out");

/// A smooth rectified linear unit.
///
/// ```text
/// out = self where beta * self > threshold, log(1 + exp(beta * self)) / beta elsewhere
/// beta and threshold are taken as float32.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Softplus<T = Tensor>(Call<T>);

impl<T> Softplus<T> {
    /// Softplus of what it needs:
    ///
    /// - `self_`: The input.
    pub fn new(self_: impl Into<T>) -> Self {
        Self(Call::new("Softplus").input("self", self_))
    }

    /// Steepness of the bend. Default: 1.0.
    pub fn beta(self, beta: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("beta", beta))
    }

    /// Value of beta \* self above which out = self. Default: 20.0.
    pub fn threshold(self, threshold: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("threshold", threshold))
    }
}

operator!(Softplus, "out");

/// Gradient of Softplus.
///
/// ```text
/// grad_input = grad_output where beta * self > threshold, grad_output * sigmoid(beta * self) elsewhere
/// beta and threshold are taken as float32.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct SoftplusBackward<T = Tensor>(Call<T>);

impl<T> SoftplusBackward<T> {
    /// SoftplusBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_`: The forward's input.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>) -> Self {
        Self(Call::new("SoftplusBackward").input("grad_output", grad_output).input("self", self_))
    }

    /// Steepness of the bend. Default: 1.0.
    pub fn beta(self, beta: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("beta", beta))
    }

    /// Value of beta \* self above which out = self. Default: 20.0.
    pub fn threshold(self, threshold: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("threshold", threshold))
    }
}

operator!(SoftplusBackward, "grad_input");

/// The input moved to zero, and zero near it.
///
/// ```text
/// out = 0 where |self| <= lambd, self - lambd above, self + lambd below
/// lambd is taken as float32.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Softshrink<T = Tensor>(Call<T>);

impl<T> Softshrink<T> {
    /// Softshrink of what it needs:
    ///
    /// - `self_`: The input.
    pub fn new(self_: impl Into<T>) -> Self {
        Self(Call::new("Softshrink").input("self", self_))
    }

    /// Half the width of the dead zone, and how far the rest is moved to 0. Default: 0.5.
    pub fn lambd(self, lambd: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("lambd", lambd))
    }
}

operator!(Softshrink, "out");

/// Gradient of Softshrink.
///
/// ```text
/// grad_input = 0 where |self| <= lambd, grad_output elsewhere
/// A NaN self lets the gradient pass, in every position of a tensor. lambd is taken as float32.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct SoftshrinkBackward<T = Tensor>(Call<T>);

impl<T> SoftshrinkBackward<T> {
    /// SoftshrinkBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_`: The forward's input.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>) -> Self {
        Self(Call::new("SoftshrinkBackward").input("grad_output", grad_output).input("self", self_))
    }

    /// Half the width of the dead zone, and how far the rest is moved to 0. Default: 0.5.
    pub fn lambd(self, lambd: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("lambd", lambd))
    }
}

operator!(SoftshrinkBackward, "grad_input");

/// The logarithm of the sigmoid of each element.
///
/// ```text
/// out = log(sigmoid(self))
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct LogSigmoid<T = Tensor>(Call<T>);

impl<T> LogSigmoid<T> {
    /// LogSigmoid of what it needs:
    ///
    /// - `self_`: The input.
    pub fn new(self_: impl Into<T>) -> Self {
        Self(Call::new("LogSigmoid").input("self", self_))
    }
}

operator!(LogSigmoid, "out");

/// LogSigmoid, with what its gradient may reuse.
///
/// ```text
/// out = log(sigmoid(self))
/// buffer = exp(-|self|)
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct LogSigmoidForward<T = Tensor>(Call<T>);

impl<T> LogSigmoidForward<T> {
    /// LogSigmoidForward of what it needs:
    ///
    /// - `self_`: The input.
    pub fn new(self_: impl Into<T>) -> Self {
        Self(Call::new("LogSigmoidForward").input("self", self_))
    }
}

/// What [`LogSigmoidForward`] gives.
#[derive(Clone, Debug)]
pub struct LogSigmoidForwardOutputs<T = Tensor> {
    /// The result.
    pub out: T,
    /// Exp(-|self|), for LogSigmoidBackward.
    pub buffer: T,
}

operator!(LogSigmoidForward, LogSigmoidForwardOutputs { out, buffer });

/// Gradient of LogSigmoid.
///
/// ```text
/// grad_input = grad_output * sigmoid(-self)
/// buffer is not read: self says all. It may be left out, or have no elements.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct LogSigmoidBackward<T = Tensor>(Call<T>);

impl<T> LogSigmoidBackward<T> {
    /// LogSigmoidBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_`: The forward's input.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>) -> Self {
        Self(Call::new("LogSigmoidBackward").input("grad_output", grad_output).input("self", self_))
    }

    /// What LogSigmoidForward kept; not read.
    pub fn buffer(self, buffer: impl Into<T>) -> Self {
        Self(self.0.input("buffer", buffer))
    }
}

operator!(LogSigmoidBackward, "grad_input");

/// The rectified linear unit with a slope below 0 that is learned.
///
/// ```text
/// out = self where self > 0, weight * self elsewhere
/// Channels are the elements of dimension 1.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Prelu<T = Tensor>(Call<T>);

impl<T> Prelu<T> {
    /// Prelu of what it needs:
    ///
    /// - `self_`: The input.
    /// - `weight`: Factor of negative elements, one for all or one for each channel.
    pub fn new(self_: impl Into<T>, weight: impl Into<T>) -> Self {
        Self(Call::new("Prelu").input("self", self_).input("weight", weight))
    }
}

operator!(Prelu, "out");

/// Gradients of Prelu with respect to its input and its weight.
///
/// ```text
/// grad_input = grad_output where self > 0, weight * grad_output elsewhere
/// grad_weight = sum of grad_output * self where self is not > 0, over all elements, or over those of each channel. Without elements it is 0.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct PreluBackward<T = Tensor>(Call<T>);

impl<T> PreluBackward<T> {
    /// PreluBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_`: The forward's input.
    /// - `weight`: The forward's weight.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>, weight: impl Into<T>) -> Self {
        Self(Call::new("PreluBackward").input("grad_output", grad_output).input("self", self_).input("weight", weight))
    }
}

/// What [`PreluBackward`] gives.
#[derive(Clone, Debug)]
pub struct PreluBackwardOutputs<T = Tensor> {
    /// Gradient of self.
    pub grad_input: T,
    /// Gradient of weight.
    pub grad_weight: T,
}

operator!(PreluBackward, PreluBackwardOutputs { grad_input, grad_weight });

/// The gated linear unit: one half of a tensor times the sigmoid of the other.
///
/// ```text
/// a and b are the first and the second half of self along dim.
/// out = a * sigmoid(b)
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Glu<T = Tensor>(Call<T>);

impl<T> Glu<T> {
    /// Glu of what it needs:
    ///
    /// - `self_`: The input.
    pub fn new(self_: impl Into<T>) -> Self {
        Self(Call::new("Glu").input("self", self_))
    }

    /// The dimension that is cut into halves; a negative one counts from the last. Default: -1.
    pub fn dim(self, dim: i64) -> Self {
        Self(self.0.attribute("dim", dim))
    }
}

operator!(Glu, "out");

/// Gradient of Glu.
///
/// ```text
/// a and b are the first and the second half of self along dim, s = sigmoid(b).
/// The first half of out is grad_out * s, the second grad_out * a * s * (1 - s).
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct GluBackward<T = Tensor>(Call<T>);

impl<T> GluBackward<T> {
    /// GluBackward of what it needs:
    ///
    /// - `grad_out`: Gradient of the forward's result.
    /// - `self_`: The forward's input.
    pub fn new(grad_out: impl Into<T>, self_: impl Into<T>) -> Self {
        Self(Call::new("GluBackward").input("grad_out", grad_out).input("self", self_))
    }

    /// The dimension that is cut into halves; a negative one counts from the last. Default: -1.
    pub fn dim(self, dim: i64) -> Self {
        Self(self.0.attribute("dim", dim))
    }
}

operator!(GluBackward, "out");

/// One half of a tensor times the Gaussian error linear unit of the other.
///
/// ```text
/// a and b are the first and the second half of self along dim.
/// out_gelu = gelu(b), as GeluV2 computes it with the same approximate
/// out = a * gelu(b), of which out_gelu's rounding is no part
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct GeGlu<T = Tensor>(Call<T>);

impl<T> GeGlu<T> {
    /// GeGlu of what it needs:
    ///
    /// - `self_`: The input.
    pub fn new(self_: impl Into<T>) -> Self {
        Self(Call::new("GeGlu").input("self", self_))
    }

    /// The dimension that is cut into halves; a negative one counts from the last. Default: -1.
    pub fn dim(self, dim: i64) -> Self {
        Self(self.0.attribute("dim", dim))
    }

    /// How gelu is computed. Default: tanh.
    pub fn approximate(self, approximate: Approximate) -> Self {
        Self(self.0.attribute("approximate", approximate))
    }
}

/// What [`GeGlu`] gives.
#[derive(Clone, Debug)]
pub struct GeGluOutputs<T = Tensor> {
    /// The result.
    pub out: T,
    /// Gelu of the second half, for GeGluBackward.
    pub out_gelu: T,
}

operator!(GeGlu, GeGluOutputs { out, out_gelu });

/// Gradient of GeGlu.
///
/// ```text
/// a and b are the first and the second half of self along dim.
/// The first half of grad_input is grad_output * gelu, gelu taken as given; the second is grad_output * a times the derivative of gelu at b.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct GeGluBackward<T = Tensor>(Call<T>);

impl<T> GeGluBackward<T> {
    /// GeGluBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_`: The forward's input.
    /// - `gelu`: Out_gelu of the forward.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>, gelu: impl Into<T>) -> Self {
        Self(Call::new("GeGluBackward").input("grad_output", grad_output).input("self", self_).input("gelu", gelu))
    }

    /// The dimension that is cut into halves; a negative one counts from the last. Default: -1.
    pub fn dim(self, dim: i64) -> Self {
        Self(self.0.attribute("dim", dim))
    }

    /// How gelu is computed. Default: tanh.
    pub fn approximate(self, approximate: Approximate) -> Self {
        Self(self.0.attribute("approximate", approximate))
    }
}

operator!(GeGluBackward, "grad_input");

/// The sigmoid linear unit of one half of a tensor times the other half.
///
/// ```text
/// a and b are the first and the second half of x along dim.
/// out = a * sigmoid(a) * b
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct SwiGlu<T = Tensor>(Call<T>);

impl<T> SwiGlu<T> {
    /// SwiGlu of what it needs:
    ///
    /// - `x`: The input.
    pub fn new(x: impl Into<T>) -> Self {
        Self(Call::new("SwiGlu").input("x", x))
    }

    /// The dimension that is cut into halves; a negative one counts from the last. Default: -1.
    pub fn dim(self, dim: i64) -> Self {
        Self(self.0.attribute("dim", dim))
    }
}

operator!(SwiGlu, "out");

/// Gradient of SwiGlu.
///
/// ```text
/// a and b are the first and the second half of x along dim, s = sigmoid(a).
/// The first half of out is y_grad * b * (s + a * s * (1 - s)), the second y_grad * a * s.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct SwiGluGrad<T = Tensor>(Call<T>);

impl<T> SwiGluGrad<T> {
    /// SwiGluGrad of what it needs:
    ///
    /// - `y_grad`: Gradient of the forward's result.
    /// - `x`: The forward's input.
    pub fn new(y_grad: impl Into<T>, x: impl Into<T>) -> Self {
        Self(Call::new("SwiGluGrad").input("y_grad", y_grad).input("x", x))
    }

    /// The dimension that is cut into halves; a negative one counts from the last. Default: -1.
    pub fn dim(self, dim: i64) -> Self {
        Self(self.0.attribute("dim", dim))
    }
}

operator!(SwiGluGrad, "out");

/// Exponentials along a dimension, as shares of their sum.
///
/// ```text
/// out = exp(self - m) / sum of exp(self - m) over dim, m the largest of self along dim. Where there is an infinity above, or only infinities below, the shares are NaN.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Softmax<T = Tensor>(Call<T>);

impl<T> Softmax<T> {
    /// Softmax of what it needs:
    ///
    /// - `self_`: The input.
    /// - `dim`: The dimension along which it works; a negative one counts from the last.
    pub fn new(self_: impl Into<T>, dim: i64) -> Self {
        Self(Call::new("Softmax").input("self", self_).attribute("dim", dim))
    }
}

operator!(Softmax, "out");

/// Gradient of Softmax with respect to its input.
///
/// ```text
/// out = output * (grad_output - sum of grad_output * output over dim)
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct SoftmaxBackward<T = Tensor>(Call<T>);

impl<T> SoftmaxBackward<T> {
    /// SoftmaxBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `output`: The forward's result.
    /// - `dim`: The dimension along which it works; a negative one counts from the last.
    pub fn new(grad_output: impl Into<T>, output: impl Into<T>, dim: i64) -> Self {
        Self(Call::new("SoftmaxBackward").input("grad_output", grad_output).input("output", output).attribute("dim", dim))
    }
}

operator!(SoftmaxBackward, "out");

/// Logarithm of Softmax.
///
/// ```text
/// out = self - m - ln(sum of exp(self - m) over dim), m the largest of self along dim
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct LogSoftmax<T = Tensor>(Call<T>);

impl<T> LogSoftmax<T> {
    /// LogSoftmax of what it needs:
    ///
    /// - `self_`: The input.
    /// - `dim`: The dimension along which it works; a negative one counts from the last.
    pub fn new(self_: impl Into<T>, dim: i64) -> Self {
        Self(Call::new("LogSoftmax").input("self", self_).attribute("dim", dim))
    }
}

operator!(LogSoftmax, "out");

/// Gradient of LogSoftmax with respect to its input.
///
/// ```text
/// out = grad_output - exp(output) * sum of grad_output over dim
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct LogSoftmaxBackward<T = Tensor>(Call<T>);

impl<T> LogSoftmaxBackward<T> {
    /// LogSoftmaxBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `output`: The forward's result.
    /// - `dim`: The dimension along which it works; a negative one counts from the last.
    pub fn new(grad_output: impl Into<T>, output: impl Into<T>, dim: i64) -> Self {
        Self(Call::new("LogSoftmaxBackward").input("grad_output", grad_output).input("output", output).attribute("dim", dim))
    }
}

operator!(LogSoftmaxBackward, "out");

/// Normalizes each group of channels to mean 0 and variance 1, then scales and offsets each channel.
///
/// ```text
/// out = (self - mean) * rstd * gamma + beta, rstd = 1 / sqrt(variance + eps)
/// mean and the biased variance are those of the C/group channels of a group, HxW elements each. self is read as (N, C, HxW) whatever its shape. A group without elements has mean 0 and rstd NaN.
/// The profiles atlas-a2 and atlas-a3 take at most 8000 channels a group.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct GroupNorm<T = Tensor>(Call<T>);

impl<T> GroupNorm<T> {
    /// GroupNorm of what it needs:
    ///
    /// - `self_`: The input.
    /// - `n`: Extent of the batch.
    /// - `c`: Number of channels.
    /// - `hxw`: Elements of a channel.
    /// - `group`: Number of groups; divides C.
    pub fn new(self_: impl Into<T>, n: i64, c: i64, hxw: i64, group: i64) -> Self {
        Self(Call::new("GroupNorm").input("self", self_).attribute("N", n).attribute("C", c).attribute("HxW", hxw).attribute("group", group))
    }

    /// Scale of each channel; 1 when not given.
    pub fn gamma(self, gamma: impl Into<T>) -> Self {
        Self(self.0.input("gamma", gamma))
    }

    /// Offset of each channel; 0 when not given.
    pub fn beta(self, beta: impl Into<T>) -> Self {
        Self(self.0.input("beta", beta))
    }

    /// Added to the variance. Default: 1e-05.
    pub fn eps(self, eps: f64) -> Self {
        Self(self.0.attribute("eps", eps))
    }
}

/// What [`GroupNorm`] gives.
#[derive(Clone, Debug)]
pub struct GroupNormOutputs<T = Tensor> {
    /// The normalized input.
    pub out: T,
    /// Mean of each group.
    pub mean: T,
    /// 1 / sqrt(variance + eps) of each group.
    pub rstd: T,
}

operator!(GroupNorm, GroupNormOutputs { out, mean, rstd });

/// Gradients of GroupNorm with respect to its input, gamma and beta.
///
/// ```text
/// For each n and c: ds = sum(grad_out * input), db = sum(grad_out), over HxW.
/// For each n and group, with s = group / (C * HxW): DS = sum(gamma * ds), DB = sum(gamma * db), c1 = rstd * gamma, c2 = (DB * mean - DS) * rstd^3 * s, c3 = -c2 * mean - DB * rstd * s.
/// grad_input = c1 * grad_out + c2 * input + c3; grad_gamma = sum over n of (ds - db * mean) * rstd; grad_beta = sum over n of db.
/// mean and rstd are taken as given. An output that output_mask leaves out is empty and not computed. With N = 0 or HxW = 0 the gradients of gamma and beta are zeros.
/// The profiles atlas-a2 and atlas-a3 take at most 8000 channels a group.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct GroupNormBackward<T = Tensor>(Call<T>);

impl<T> GroupNormBackward<T> {
    /// GroupNormBackward of what it needs:
    ///
    /// - `grad_out`: Gradient of GroupNorm's out.
    /// - `input`: The input of GroupNorm.
    /// - `mean`: Mean of each group.
    /// - `rstd`: 1 / sqrt(variance + eps) of each group.
    /// - `n`: Extent of the batch.
    /// - `c`: Number of channels.
    /// - `hxw`: Elements of a channel.
    /// - `group`: Number of groups; divides C.
    pub fn new(grad_out: impl Into<T>, input: impl Into<T>, mean: impl Into<T>, rstd: impl Into<T>, n: i64, c: i64, hxw: i64, group: i64) -> Self {
        Self(Call::new("GroupNormBackward").input("grad_out", grad_out).input("input", input).input("mean", mean).input("rstd", rstd).attribute("N", n).attribute("C", c).attribute("HxW", hxw).attribute("group", group))
    }

    /// Scale of each channel; 1 when not given.
    pub fn gamma(self, gamma: impl Into<T>) -> Self {
        Self(self.0.input("gamma", gamma))
    }

    /// Which of grad_input, grad_gamma and grad_beta to compute. Default: [true, true, true].
    pub fn output_mask(self, output_mask: [bool; 3]) -> Self {
        Self(self.0.attribute("output_mask", output_mask))
    }
}

/// What [`GroupNormBackward`] gives.
#[derive(Clone, Debug)]
pub struct GroupNormBackwardOutputs<T = Tensor> {
    /// Gradient of input. Of shape \[0\] where it was not asked for.
    pub grad_input: T,
    /// Gradient of gamma. Of shape \[0\] where it was not asked for.
    pub grad_gamma: T,
    /// Gradient of beta. Of shape \[0\] where it was not asked for.
    pub grad_beta: T,
}

operator!(GroupNormBackward, GroupNormBackwardOutputs { grad_input, grad_gamma, grad_beta });

/// Normalizes the last dimensions to mean 0 and variance 1, then scales and offsets each element.
///
/// ```text
/// out = (input - mean) * rstd * weight + bias, rstd = 1 / sqrt(variance + eps)
/// mean and the biased variance are those of the elements that have all but the last dimensions, normalized_shape, in common. Where normalized_shape has no elements mean is 0 and rstd NaN.
/// weight and bias have the dtype of input, or both float32. mean and rstd have that of weight and bias, or of input where neither is given; that of input and float32 may be asked for.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct LayerNorm<T = Tensor>(Call<T>);

impl<T> LayerNorm<T> {
    /// LayerNorm of what it needs:
    ///
    /// - `input`: The input.
    /// - `normalized_shape`: The last dimensions of input, which are normalized together; at least one.
    pub fn new(input: impl Into<T>, normalized_shape: impl Into<Vec<i64>>) -> Self {
        Self(Call::new("LayerNorm").input("input", input).attribute("normalized_shape", Attribute::Ints(normalized_shape.into())))
    }

    /// Scale of each normalized element; 1 when not given.
    pub fn weight(self, weight: impl Into<T>) -> Self {
        Self(self.0.input("weight", weight))
    }

    /// Offset of each normalized element; 0 when not given.
    pub fn bias(self, bias: impl Into<T>) -> Self {
        Self(self.0.input("bias", bias))
    }

    /// Added to the variance. Default: 1e-05.
    pub fn eps(self, eps: f64) -> Self {
        Self(self.0.attribute("eps", eps))
    }
}

/// What [`LayerNorm`] gives.
#[derive(Clone, Debug)]
pub struct LayerNormOutputs<T = Tensor> {
    /// The normalized input.
    pub out: T,
    /// Mean of each group of elements. Of shape \[0\] where it was not asked for.
    pub mean: T,
    /// 1 / sqrt(variance + eps) of each. Of shape \[0\] where it was not asked for.
    pub rstd: T,
}

operator!(LayerNorm, LayerNormOutputs { out, mean, rstd });

/// Gradients of LayerNorm with respect to its input, weight and bias.
///
/// ```text
/// With x = (input - mean) * rstd, g = grad_out * weight, and means over the elements that were normalized together:
/// grad_input = (g - mean(g) - x * mean(g * x)) * rstd; grad_weight = sum(grad_out * x) and grad_bias = sum(grad_out) over all but the last dimensions.
/// mean and rstd are taken as given, in the dtype of input or float32. grad_weight and grad_bias have the dtype of weight and bias, or of input where neither is given. An output that output_mask leaves out is empty and not computed. Without a weight PyTorch has no grad_weight and grad_bias; here they are those of a weight of ones.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct LayerNormBackward<T = Tensor>(Call<T>);

impl<T> LayerNormBackward<T> {
    /// LayerNormBackward of what it needs:
    ///
    /// - `grad_out`: Gradient of LayerNorm's out.
    /// - `input`: The input of LayerNorm.
    /// - `mean`: Mean of each group of elements.
    /// - `rstd`: 1 / sqrt(variance + eps) of each.
    /// - `normalized_shape`: The last dimensions of input, which are normalized together; at least one.
    pub fn new(grad_out: impl Into<T>, input: impl Into<T>, mean: impl Into<T>, rstd: impl Into<T>, normalized_shape: impl Into<Vec<i64>>) -> Self {
        Self(Call::new("LayerNormBackward").input("grad_out", grad_out).input("input", input).input("mean", mean).input("rstd", rstd).attribute("normalized_shape", Attribute::Ints(normalized_shape.into())))
    }

    /// Scale of each normalized element; 1 when not given.
    pub fn weight(self, weight: impl Into<T>) -> Self {
        Self(self.0.input("weight", weight))
    }

    /// The bias of LayerNorm; not read.
    pub fn bias(self, bias: impl Into<T>) -> Self {
        Self(self.0.input("bias", bias))
    }

    /// Which of grad_input, grad_weight and grad_bias to compute. Default: [true, true, true].
    pub fn output_mask(self, output_mask: [bool; 3]) -> Self {
        Self(self.0.attribute("output_mask", output_mask))
    }
}

/// What [`LayerNormBackward`] gives.
#[derive(Clone, Debug)]
pub struct LayerNormBackwardOutputs<T = Tensor> {
    /// Gradient of input. Of shape \[0\] where it was not asked for.
    pub grad_input: T,
    /// Gradient of weight. Of shape \[0\] where it was not asked for.
    pub grad_weight: T,
    /// Gradient of bias. Of shape \[0\] where it was not asked for.
    pub grad_bias: T,
}

operator!(LayerNormBackward, LayerNormBackwardOutputs { grad_input, grad_weight, grad_bias });

/// Divides the last dimensions by their root mean square, then scales each element.
///
/// ```text
/// y = x * rstd * gamma, rstd = 1 / sqrt(mean(x^2) + epsilon)
/// The mean is that of the elements that have all but the last dimensions, gamma's, in common.
/// gamma has the dtype of x, or float32; rstd is float32.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct RmsNorm<T = Tensor>(Call<T>);

impl<T> RmsNorm<T> {
    /// RmsNorm of what it needs:
    ///
    /// - `x`: The input.
    /// - `gamma`: Scale of each normalized element; its shape is that of what is normalized together.
    pub fn new(x: impl Into<T>, gamma: impl Into<T>) -> Self {
        Self(Call::new("RmsNorm").input("x", x).input("gamma", gamma))
    }

    /// Added to the mean of the squares. Default: 1e-06.
    pub fn epsilon(self, epsilon: f64) -> Self {
        Self(self.0.attribute("epsilon", epsilon))
    }
}

/// What [`RmsNorm`] gives.
#[derive(Clone, Debug)]
pub struct RmsNormOutputs<T = Tensor> {
    /// The normalized input.
    pub y: T,
    /// 1 / sqrt(mean of the squares + epsilon) of each group of elements.
    pub rstd: T,
}

operator!(RmsNorm, RmsNormOutputs { y, rstd });

/// Gradients of RmsNorm with respect to x and gamma.
///
/// ```text
/// With means over the elements that were normalized together:
/// dx = (dy * gamma - x * rstd * mean(dy * gamma * x * rstd)) * rstd; dgamma = sum(dy * x * rstd) over all but the last dimensions.
/// rstd is taken as given. gamma has the dtype of x, or float32; rstd and dgamma are float32.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct RmsNormGrad<T = Tensor>(Call<T>);

impl<T> RmsNormGrad<T> {
    /// RmsNormGrad of what it needs:
    ///
    /// - `dy`: Gradient of RmsNorm's y.
    /// - `x`: The input of RmsNorm.
    /// - `rstd`: 1 / sqrt(mean of the squares + epsilon) of each group of elements.
    /// - `gamma`: Scale of each normalized element; its shape is that of what is normalized together.
    pub fn new(dy: impl Into<T>, x: impl Into<T>, rstd: impl Into<T>, gamma: impl Into<T>) -> Self {
        Self(Call::new("RmsNormGrad").input("dy", dy).input("x", x).input("rstd", rstd).input("gamma", gamma))
    }
}

/// What [`RmsNormGrad`] gives.
#[derive(Clone, Debug)]
pub struct RmsNormGradOutputs<T = Tensor> {
    /// Gradient of x.
    pub dx: T,
    /// Gradient of gamma.
    pub dgamma: T,
}

operator!(RmsNormGrad, RmsNormGradOutputs { dx, dgamma });

/// Normalizes each channel to mean 0 and variance 1, over the batch or with running statistics, then scales and offsets it.
///
/// ```text
/// output = (input - mean) * invstd * weight + bias, invstd = 1 / sqrt(variance + eps)
/// In training mean and the biased variance are those of the channel, dimension 1 of input, over all other dimensions; else they are running_mean and running_var. save_mean and save_invstd are the mean and invstd that were used. A channel without elements has mean 0 and invstd NaN.
/// running_mean and running_var are not changed. In training, where they are given, running_mean_out = (1 - momentum) * running_mean + momentum * mean, and running_var_out likewise with the unbiased variance, which is NaN for a single element; without elements both stay as they were. Else they are empty. The C function has no such outputs: it changes running_mean and running_var themselves.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct BatchNorm<T = Tensor>(Call<T>);

impl<T> BatchNorm<T> {
    /// BatchNorm of what it needs:
    ///
    /// - `input`: The input.
    /// - `training`: Whether to normalize with the statistics of input, else with the running ones.
    pub fn new(input: impl Into<T>, training: bool) -> Self {
        Self(Call::new("BatchNorm").input("input", input).attribute("training", training))
    }

    /// Scale of each channel; 1 when not given.
    pub fn weight(self, weight: impl Into<T>) -> Self {
        Self(self.0.input("weight", weight))
    }

    /// Offset of each channel; 0 when not given.
    pub fn bias(self, bias: impl Into<T>) -> Self {
        Self(self.0.input("bias", bias))
    }

    /// Mean of each channel over earlier calls; needed unless training.
    pub fn running_mean(self, running_mean: impl Into<T>) -> Self {
        Self(self.0.input("running_mean", running_mean))
    }

    /// Variance of each channel over earlier calls; needed unless training.
    pub fn running_var(self, running_var: impl Into<T>) -> Self {
        Self(self.0.input("running_var", running_var))
    }

    /// How much of the running statistics this call's become. Default: 0.1.
    pub fn momentum(self, momentum: f64) -> Self {
        Self(self.0.attribute("momentum", momentum))
    }

    /// Added to the variance. Default: 1e-05.
    pub fn eps(self, eps: f64) -> Self {
        Self(self.0.attribute("eps", eps))
    }
}

/// What [`BatchNorm`] gives.
#[derive(Clone, Debug)]
pub struct BatchNormOutputs<T = Tensor> {
    /// The normalized input.
    pub output: T,
    /// Mean of each channel; running_mean unless training.
    pub save_mean: T,
    /// 1 / sqrt(variance + eps) of each channel; of running_var unless training.
    pub save_invstd: T,
    /// Running_mean with this call's mean; empty unless training with a running_mean. Of shape \[0\] where it was not asked for.
    pub running_mean_out: T,
    /// Running_var with this call's variance; empty unless training with a running_var. Of shape \[0\] where it was not asked for.
    pub running_var_out: T,
}

operator!(BatchNorm, BatchNormOutputs { output, save_mean, save_invstd, running_mean_out, running_var_out });

/// Gradients of BatchNorm with respect to its input, weight and bias.
///
/// ```text
/// In training, with x = (input - save_mean) * save_invstd and means over all dimensions but the channels':
/// grad_input = (grad_out - mean(grad_out) - x * mean(grad_out * x)) * save_invstd * weight; grad_weight = sum(grad_out * x), grad_bias = sum(grad_out).
/// Else, with invstd = 1 / sqrt(running_var + eps): grad_input = grad_out * invstd * weight; grad_weight = sum(grad_out * (input - running_mean) * invstd), grad_bias = sum(grad_out).
/// The statistics are taken as given. An output that output_mask leaves out is empty and not computed.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct BatchNormBackward<T = Tensor>(Call<T>);

impl<T> BatchNormBackward<T> {
    /// BatchNormBackward of what it needs:
    ///
    /// - `grad_out`: Gradient of BatchNorm's output.
    /// - `input`: The input of BatchNorm.
    /// - `training`: Whether to normalize with the statistics of input, else with the running ones.
    pub fn new(grad_out: impl Into<T>, input: impl Into<T>, training: bool) -> Self {
        Self(Call::new("BatchNormBackward").input("grad_out", grad_out).input("input", input).attribute("training", training))
    }

    /// Scale of each channel; 1 when not given.
    pub fn weight(self, weight: impl Into<T>) -> Self {
        Self(self.0.input("weight", weight))
    }

    /// The running_mean of BatchNorm; needed, and read, unless training.
    pub fn running_mean(self, running_mean: impl Into<T>) -> Self {
        Self(self.0.input("running_mean", running_mean))
    }

    /// The running_var of BatchNorm; needed, and read, unless training.
    pub fn running_var(self, running_var: impl Into<T>) -> Self {
        Self(self.0.input("running_var", running_var))
    }

    /// Mean of each channel; needed, and read, in training.
    pub fn save_mean(self, save_mean: impl Into<T>) -> Self {
        Self(self.0.input("save_mean", save_mean))
    }

    /// 1 / sqrt(variance + eps) of each channel; needed, and read, in training.
    pub fn save_invstd(self, save_invstd: impl Into<T>) -> Self {
        Self(self.0.input("save_invstd", save_invstd))
    }

    /// Added to the variance. Default: 1e-05.
    pub fn eps(self, eps: f64) -> Self {
        Self(self.0.attribute("eps", eps))
    }

    /// Which of grad_input, grad_weight and grad_bias to compute. Default: [true, true, true].
    pub fn output_mask(self, output_mask: [bool; 3]) -> Self {
        Self(self.0.attribute("output_mask", output_mask))
    }
}

/// What [`BatchNormBackward`] gives.
#[derive(Clone, Debug)]
pub struct BatchNormBackwardOutputs<T = Tensor> {
    /// Gradient of input. Of shape \[0\] where it was not asked for.
    pub grad_input: T,
    /// Gradient of weight. Of shape \[0\] where it was not asked for.
    pub grad_weight: T,
    /// Gradient of bias. Of shape \[0\] where it was not asked for.
    pub grad_bias: T,
}

operator!(BatchNormBackward, BatchNormBackwardOutputs { grad_input, grad_weight, grad_bias });

/// The product of two matrices, of a matrix and a vector, or of each of two batches.
///
/// ```text
/// out[..., m, n] = sum over k of self[..., m, k] * mat2[..., k, n]
/// A self of rank 1 is a row, a mat2 of rank 1 a column; the dimension of 1 that this adds is not in the result. Dimensions before the last two are a batch and broadcast. Without any k the product is zeros. Sums are made in float32, in an order that follows from the shapes, and rounded once to out's dtype.
/// With the last two dimensions transposed by their strides, which takes no copy, the gradients are products, too: that of self is the incoming gradient times mat2 transposed, that of mat2 is self transposed times the incoming gradient, each summed over the batch dimensions along which its input was broadcast.
/// cube_math_type has no effect on the CPU.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Matmul<T = Tensor>(Call<T>);

impl<T> Matmul<T> {
    /// Matmul of what it needs:
    ///
    /// - `self_`: The first factor.
    /// - `mat2`: The second factor.
    pub fn new(self_: impl Into<T>, mat2: impl Into<T>) -> Self {
        Self(Call::new("Matmul").input("self", self_).input("mat2", mat2))
    }

    /// Precision of the products on an NPU; on the CPU it has no effect. Default: keep_dtype.
    pub fn cube_math_type(self, cube_math_type: CubeMathType) -> Self {
        Self(self.0.attribute("cube_math_type", cube_math_type))
    }
}

operator!(Matmul, "out");

/// The products of two batches of matrices.
///
/// ```text
/// out[b, m, n] = sum over k of self[b, m, k] * mat2[b, k, n]
/// Both inputs have rank 3 and as many matrices. Sums and gradients are as Matmul's.
/// cube_math_type has no effect on the CPU.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct BatchMatMul<T = Tensor>(Call<T>);

impl<T> BatchMatMul<T> {
    /// BatchMatMul of what it needs:
    ///
    /// - `self_`: The first factors.
    /// - `mat2`: The second factors.
    pub fn new(self_: impl Into<T>, mat2: impl Into<T>) -> Self {
        Self(Call::new("BatchMatMul").input("self", self_).input("mat2", mat2))
    }

    /// Precision of the products on an NPU; on the CPU it has no effect. Default: keep_dtype.
    pub fn cube_math_type(self, cube_math_type: CubeMathType) -> Self {
        Self(self.0.attribute("cube_math_type", cube_math_type))
    }
}

operator!(BatchMatMul, "out");

/// A matrix plus the product of two others.
///
/// ```text
/// out = beta * self + alpha * (mat1 times mat2)
/// self broadcasts to the shape of the product. With beta = 0 self is not read, whatever numbers it holds. beta and alpha are taken as float32; the sum is rounded once to out's dtype.
/// The gradient of self is beta times the incoming one, summed over the dimensions along which it was broadcast; those of mat1 and mat2 are alpha times Matmul's.
/// cube_math_type has no effect on the CPU.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Addmm<T = Tensor>(Call<T>);

impl<T> Addmm<T> {
    /// Addmm of what it needs:
    ///
    /// - `self_`: What is added.
    /// - `mat1`: The first factor.
    /// - `mat2`: The second factor.
    pub fn new(self_: impl Into<T>, mat1: impl Into<T>, mat2: impl Into<T>) -> Self {
        Self(Call::new("Addmm").input("self", self_).input("mat1", mat1).input("mat2", mat2))
    }

    /// Factor of self. Default: 1.0.
    pub fn beta(self, beta: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("beta", beta))
    }

    /// Factor of the product. Default: 1.0.
    pub fn alpha(self, alpha: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("alpha", alpha))
    }

    /// Precision of the products on an NPU; on the CPU it has no effect. Default: keep_dtype.
    pub fn cube_math_type(self, cube_math_type: CubeMathType) -> Self {
        Self(self.0.attribute("cube_math_type", cube_math_type))
    }
}

operator!(Addmm, "out");

/// The convolution of a batch with kernels, or the transposed one, in 1 to 3 dimensions.
///
/// ```text
/// out[n, o, p] = bias[o] + sum over c and k of weight[o, c, k] * input[n, c, p * stride - padding + k * dilation], c over the channels of o's group; outside of the input there are zeros.
/// An extent of out is (extent + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1, rounded down.
/// transposed is its gradient with respect to the input, applied to input: weight is (C, Cout/groups, ...), an extent of out is (extent - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1, and output_padding is less than the stride or the dilation. Elsewhere output_padding has no effect.
/// A list of one entry stands for all dimensions. Sums are made in float32, in an order that follows from the shapes, and rounded once to out's dtype. A kernel's element that is infinite or NaN makes NaN also of zeros of the padding. An input without the batch's dimension is not taken.
/// cube_math_type has no effect on the CPU.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Convolution<T = Tensor>(Call<T>);

impl<T> Convolution<T> {
    /// Convolution of what it needs:
    ///
    /// - `input`: The input.
    /// - `weight`: The kernels.
    /// - `stride`: Distance of the kernel's places.
    /// - `padding`: Zeros at either end of the input.
    /// - `dilation`: Distance of the kernel's elements.
    /// - `output_padding`: Added to the extents of a transposed convolution's result.
    pub fn new(input: impl Into<T>, weight: impl Into<T>, stride: impl Into<Vec<i64>>, padding: impl Into<Vec<i64>>, dilation: impl Into<Vec<i64>>, output_padding: impl Into<Vec<i64>>) -> Self {
        Self(Call::new("Convolution").input("input", input).input("weight", weight).attribute("stride", Attribute::Ints(stride.into())).attribute("padding", Attribute::Ints(padding.into())).attribute("dilation", Attribute::Ints(dilation.into())).attribute("output_padding", Attribute::Ints(output_padding.into())))
    }

    /// Added to each channel of the result.
    pub fn bias(self, bias: impl Into<T>) -> Self {
        Self(self.0.input("bias", bias))
    }

    /// Whether it is the transposed convolution. Default: false.
    pub fn transposed(self, transposed: bool) -> Self {
        Self(self.0.attribute("transposed", transposed))
    }

    /// Into how many the channels are divided. Default: 1.
    pub fn groups(self, groups: i64) -> Self {
        Self(self.0.attribute("groups", groups))
    }

    /// Precision of the products on an NPU; on the CPU it has no effect. Default: keep_dtype.
    pub fn cube_math_type(self, cube_math_type: CubeMathType) -> Self {
        Self(self.0.attribute("cube_math_type", cube_math_type))
    }
}

operator!(Convolution, "out");

/// Gradients of Convolution with respect to its input, weight and bias.
///
/// ```text
/// grad_input[n, c, x] = sum over o, p and k with p * stride - padding + k * dilation = x of weight[o, c, k] * grad_output[n, o, p]
/// grad_weight[o, c, k] = sum over n and p of grad_output[n, o, p] * input[n, c, p * stride - padding + k * dilation]
/// grad_bias[o] = sum over n and p of grad_output[n, o, p]
/// The other attributes are those of the forward; with transposed the roles of input and grad_output are exchanged in the first two. Sums are made in float32, in an order that follows from the shapes, and rounded once to the output's dtype.
/// An output that output_mask leaves out is empty and not computed.
/// cube_math_type has no effect on the CPU.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct ConvolutionBackward<T = Tensor>(Call<T>);

impl<T> ConvolutionBackward<T> {
    /// ConvolutionBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of Convolution's out.
    /// - `input`: The input of Convolution.
    /// - `weight`: The kernels.
    /// - `stride`: Distance of the kernel's places.
    /// - `padding`: Zeros at either end of the input.
    /// - `dilation`: Distance of the kernel's elements.
    /// - `output_padding`: Added to the extents of a transposed convolution's result.
    pub fn new(grad_output: impl Into<T>, input: impl Into<T>, weight: impl Into<T>, stride: impl Into<Vec<i64>>, padding: impl Into<Vec<i64>>, dilation: impl Into<Vec<i64>>, output_padding: impl Into<Vec<i64>>) -> Self {
        Self(Call::new("ConvolutionBackward").input("grad_output", grad_output).input("input", input).input("weight", weight).attribute("stride", Attribute::Ints(stride.into())).attribute("padding", Attribute::Ints(padding.into())).attribute("dilation", Attribute::Ints(dilation.into())).attribute("output_padding", Attribute::Ints(output_padding.into())))
    }

    /// Shape of the bias, (Cout); an empty list stands for it, too. Default: [].
    pub fn bias_sizes(self, bias_sizes: impl Into<Vec<i64>>) -> Self {
        Self(self.0.attribute("bias_sizes", Attribute::Ints(bias_sizes.into())))
    }

    /// Whether it is the transposed convolution. Default: false.
    pub fn transposed(self, transposed: bool) -> Self {
        Self(self.0.attribute("transposed", transposed))
    }

    /// Into how many the channels are divided. Default: 1.
    pub fn groups(self, groups: i64) -> Self {
        Self(self.0.attribute("groups", groups))
    }

    /// Which of grad_input, grad_weight and grad_bias to compute. Default: [true, true, true].
    pub fn output_mask(self, output_mask: [bool; 3]) -> Self {
        Self(self.0.attribute("output_mask", output_mask))
    }

    /// Precision of the products on an NPU; on the CPU it has no effect. Default: keep_dtype.
    pub fn cube_math_type(self, cube_math_type: CubeMathType) -> Self {
        Self(self.0.attribute("cube_math_type", cube_math_type))
    }
}

/// What [`ConvolutionBackward`] gives.
#[derive(Clone, Debug)]
pub struct ConvolutionBackwardOutputs<T = Tensor> {
    /// Gradient of input. Of shape \[0\] where it was not asked for.
    pub grad_input: T,
    /// Gradient of weight. Of shape \[0\] where it was not asked for.
    pub grad_weight: T,
    /// Gradient of the bias. Of shape \[0\] where it was not asked for.
    pub grad_bias: T,
}

operator!(ConvolutionBackward, ConvolutionBackwardOutputs { grad_input, grad_weight, grad_bias });

/// The largest element of each window of a plane, and its place.
///
/// ```text
/// out[h][w] = largest of the elements (h * stride[0] - padding[0] + i * dilation[0], w * stride[1] - padding[1] + j * dilation[1]) that lie in the plane, 0 <= i < kernel_size[0], 0 <= j < kernel_size[1]; indices its place, row * W + column. Of equal ones the first counts, but of NaNs, each of which is larger than any number, the last. A window without an element, which dilation makes possible, gives -inf and the place -1.
/// H_out = floor((H + 2 * padding[0] - dilation[0] * (kernel_size[0] - 1) - 1) / stride[0]) + 1, with ceil_mode rounded up, but without a window that begins behind the plane. W_out likewise.
/// indices are int32, as aclnn has them, or int64, as PyTorch has them, where that is asked for; planes of 2^31 elements and more take int64. The profiles atlas-a2 and atlas-a3 have int32 and no dilation.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct MaxPool2dWithIndices<T = Tensor>(Call<T>);

impl<T> MaxPool2dWithIndices<T> {
    /// MaxPool2dWithIndices of what it needs:
    ///
    /// - `self_`: The input.
    /// - `kernel_size`: Height and width of the windows, or one for both.
    /// - `stride`: From one window to the next, likewise; those of kernel_size when empty.
    /// - `padding`: Rows and columns around each plane, likewise; at most half of kernel_size.
    /// - `dilation`: From one element of a window to the next, likewise.
    pub fn new(self_: impl Into<T>, kernel_size: impl Into<Vec<i64>>, stride: impl Into<Vec<i64>>, padding: impl Into<Vec<i64>>, dilation: impl Into<Vec<i64>>) -> Self {
        Self(Call::new("MaxPool2dWithIndices").input("self", self_).attribute("kernel_size", Attribute::Ints(kernel_size.into())).attribute("stride", Attribute::Ints(stride.into())).attribute("padding", Attribute::Ints(padding.into())).attribute("dilation", Attribute::Ints(dilation.into())))
    }

    /// Whether a last window may jut out, if it begins in the plane or the padding before. Default: false.
    pub fn ceil_mode(self, ceil_mode: bool) -> Self {
        Self(self.0.attribute("ceil_mode", ceil_mode))
    }
}

/// What [`MaxPool2dWithIndices`] gives.
#[derive(Clone, Debug)]
pub struct MaxPool2dWithIndicesOutputs<T = Tensor> {
    /// The result.
    pub out: T,
    /// Place of each result in its plane, row \* W + column.
    pub indices: T,
}

operator!(MaxPool2dWithIndices, MaxPool2dWithIndicesOutputs { out, indices });

/// Gradient of MaxPool2dWithIndices.
///
/// ```text
/// grad_input = for each element the sum of the grad_output of its plane whose index it is, in their order, in float32. Of self only the shape counts.
/// An index is that of an element of the plane, whether or not the window has it, or -1: its gradient then goes nowhere. Any other is an error of phase two. The profiles atlas-a2 and atlas-a3 take int32 and no dilation.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct MaxPool2dWithIndicesBackward<T = Tensor>(Call<T>);

impl<T> MaxPool2dWithIndicesBackward<T> {
    /// MaxPool2dWithIndicesBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_`: The forward's input; not read.
    /// - `indices`: The forward's.
    /// - `kernel_size`: Height and width of the windows, or one for both.
    /// - `stride`: From one window to the next, likewise; those of kernel_size when empty.
    /// - `padding`: Rows and columns around each plane, likewise; at most half of kernel_size.
    /// - `dilation`: From one element of a window to the next, likewise.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>, indices: impl Into<T>, kernel_size: impl Into<Vec<i64>>, stride: impl Into<Vec<i64>>, padding: impl Into<Vec<i64>>, dilation: impl Into<Vec<i64>>) -> Self {
        Self(Call::new("MaxPool2dWithIndicesBackward").input("grad_output", grad_output).input("self", self_).input("indices", indices).attribute("kernel_size", Attribute::Ints(kernel_size.into())).attribute("stride", Attribute::Ints(stride.into())).attribute("padding", Attribute::Ints(padding.into())).attribute("dilation", Attribute::Ints(dilation.into())))
    }

    /// Whether a last window may jut out, if it begins in the plane or the padding before. Default: false.
    pub fn ceil_mode(self, ceil_mode: bool) -> Self {
        Self(self.0.attribute("ceil_mode", ceil_mode))
    }
}

operator!(MaxPool2dWithIndicesBackward, "grad_input");

/// The mean of each window of a plane.
///
/// ```text
/// out[h][w] = sum of the window that begins at (h * stride[0] - padding[0], w * stride[1] - padding[1]) / divisor, padding counting as zeros. The divisor is divisor_override where that is not 0 (PyTorch has None for it); else the number of the window's elements in the plane and, with count_include_pad, in its padding.
/// H_out = floor((H + 2 * padding[0] - kernel_size[0]) / stride[0]) + 1, with ceil_mode rounded up, but without a window that begins behind the plane. W_out likewise. Sums are float64.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct AvgPool2d<T = Tensor>(Call<T>);

impl<T> AvgPool2d<T> {
    /// AvgPool2d of what it needs:
    ///
    /// - `self_`: The input.
    /// - `kernel_size`: Height and width of the windows, or one for both.
    /// - `stride`: From one window to the next, likewise; those of kernel_size when empty.
    /// - `padding`: Rows and columns around each plane, likewise; at most half of kernel_size.
    pub fn new(self_: impl Into<T>, kernel_size: impl Into<Vec<i64>>, stride: impl Into<Vec<i64>>, padding: impl Into<Vec<i64>>) -> Self {
        Self(Call::new("AvgPool2d").input("self", self_).attribute("kernel_size", Attribute::Ints(kernel_size.into())).attribute("stride", Attribute::Ints(stride.into())).attribute("padding", Attribute::Ints(padding.into())))
    }

    /// Whether a last window may jut out, if it begins in the plane or the padding before. Default: false.
    pub fn ceil_mode(self, ceil_mode: bool) -> Self {
        Self(self.0.attribute("ceil_mode", ceil_mode))
    }

    /// Whether a mean is over the padding in its window, too. Default: true.
    pub fn count_include_pad(self, count_include_pad: bool) -> Self {
        Self(self.0.attribute("count_include_pad", count_include_pad))
    }

    /// What sums are divided by; 0: by the number of their terms. Default: 0.
    pub fn divisor_override(self, divisor_override: i64) -> Self {
        Self(self.0.attribute("divisor_override", divisor_override))
    }

    /// How an NPU's matrix unit may compute; of no effect on the CPU. Default: 0.
    pub fn cube_math_type(self, cube_math_type: i64) -> Self {
        Self(self.0.attribute("cube_math_type", cube_math_type))
    }
}

operator!(AvgPool2d, "out");

/// Gradient of AvgPool2d.
///
/// ```text
/// grad_input = for each element the sum of grad_output / divisor over the windows that it is in, in the order of the windows. The divisors are AvgPool2d's. Of self only the shape counts. Sums are float64.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct AvgPool2dBackward<T = Tensor>(Call<T>);

impl<T> AvgPool2dBackward<T> {
    /// AvgPool2dBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_`: The forward's input; not read.
    /// - `kernel_size`: Height and width of the windows, or one for both.
    /// - `stride`: From one window to the next, likewise; those of kernel_size when empty.
    /// - `padding`: Rows and columns around each plane, likewise; at most half of kernel_size.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>, kernel_size: impl Into<Vec<i64>>, stride: impl Into<Vec<i64>>, padding: impl Into<Vec<i64>>) -> Self {
        Self(Call::new("AvgPool2dBackward").input("grad_output", grad_output).input("self", self_).attribute("kernel_size", Attribute::Ints(kernel_size.into())).attribute("stride", Attribute::Ints(stride.into())).attribute("padding", Attribute::Ints(padding.into())))
    }

    /// Whether a last window may jut out, if it begins in the plane or the padding before. Default: false.
    pub fn ceil_mode(self, ceil_mode: bool) -> Self {
        Self(self.0.attribute("ceil_mode", ceil_mode))
    }

    /// Whether a mean is over the padding in its window, too. Default: true.
    pub fn count_include_pad(self, count_include_pad: bool) -> Self {
        Self(self.0.attribute("count_include_pad", count_include_pad))
    }

    /// What sums are divided by; 0: by the number of their terms. Default: 0.
    pub fn divisor_override(self, divisor_override: i64) -> Self {
        Self(self.0.attribute("divisor_override", divisor_override))
    }

    /// How an NPU's matrix unit may compute; of no effect on the CPU. Default: 0.
    pub fn cube_math_type(self, cube_math_type: i64) -> Self {
        Self(self.0.attribute("cube_math_type", cube_math_type))
    }
}

operator!(AvgPool2dBackward, "grad_input");

/// The means of the windows that share a plane out among an output of any size.
///
/// ```text
/// out[h][w] = mean of the elements with rows from floor(h * H / H_out) to before ceil((h + 1) * H / H_out) and columns likewise. Sums are float64.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct AdaptiveAvgPool2d<T = Tensor>(Call<T>);

impl<T> AdaptiveAvgPool2d<T> {
    /// AdaptiveAvgPool2d of what it needs:
    ///
    /// - `self_`: The input.
    /// - `output_size`: Height and width of the result, or one for both.
    pub fn new(self_: impl Into<T>, output_size: impl Into<Vec<i64>>) -> Self {
        Self(Call::new("AdaptiveAvgPool2d").input("self", self_).attribute("output_size", Attribute::Ints(output_size.into())))
    }
}

operator!(AdaptiveAvgPool2d, "out");

/// Gradient of AdaptiveAvgPool2d.
///
/// ```text
/// out = for each element the sum of grad_output / (elements of the window) over the windows that it is in, in the order of the windows. Of self only the shape counts. A grad_output without elements gives zeros, where PyTorch refuses it. Sums are float64.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct AdaptiveAvgPool2dBackward<T = Tensor>(Call<T>);

impl<T> AdaptiveAvgPool2dBackward<T> {
    /// AdaptiveAvgPool2dBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_`: The forward's input; not read.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>) -> Self {
        Self(Call::new("AdaptiveAvgPool2dBackward").input("grad_output", grad_output).input("self", self_))
    }
}

operator!(AdaptiveAvgPool2dBackward, "out");

/// Rows with their mirror image before and behind.
///
/// ```text
/// out[w] = self[x], x = w - padding[0]; where x < 0 self[-x], where x >= W self[2 * (W - 1) - x].
/// padding is less than W on both sides.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct ReflectionPad1d<T = Tensor>(Call<T>);

impl<T> ReflectionPad1d<T> {
    /// ReflectionPad1d of what it needs:
    ///
    /// - `self_`: The input.
    /// - `padding`: Elements before and behind each row; negative ones are left out of it.
    pub fn new(self_: impl Into<T>, padding: [i64; 2]) -> Self {
        Self(Call::new("ReflectionPad1d").input("self", self_).attribute("padding", padding))
    }
}

operator!(ReflectionPad1d, "out");

/// Gradient of ReflectionPad1d.
///
/// ```text
/// grad_input = for each element the sum of grad_output over the outputs that it is, in their order. Of self only the shape counts. Sums are float64.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct ReflectionPad1dBackward<T = Tensor>(Call<T>);

impl<T> ReflectionPad1dBackward<T> {
    /// ReflectionPad1dBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_`: The forward's input; not read.
    /// - `padding`: Elements before and behind each row; negative ones are left out of it.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>, padding: [i64; 2]) -> Self {
        Self(Call::new("ReflectionPad1dBackward").input("grad_output", grad_output).input("self", self_).attribute("padding", padding))
    }
}

operator!(ReflectionPad1dBackward, "grad_input");

/// Planes with their mirror images around them.
///
/// ```text
/// out[h][w] = self[y][x], x = w - padding[0] and y = h - padding[2]; where x < 0 at -x, where x >= W at 2 * (W - 1) - x, and y likewise.
/// padding is less than W left and right and less than H above and below.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct ReflectionPad2d<T = Tensor>(Call<T>);

impl<T> ReflectionPad2d<T> {
    /// ReflectionPad2d of what it needs:
    ///
    /// - `self_`: The input.
    /// - `padding`: Columns left and right, rows above and below of each plane; negative ones are left out of it.
    pub fn new(self_: impl Into<T>, padding: [i64; 4]) -> Self {
        Self(Call::new("ReflectionPad2d").input("self", self_).attribute("padding", padding))
    }
}

operator!(ReflectionPad2d, "out");

/// Gradient of ReflectionPad2d.
///
/// ```text
/// grad_input = for each element the sum of grad_output over the outputs that it is, in their order. Of self only the shape counts. Sums are float64.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct ReflectionPad2dBackward<T = Tensor>(Call<T>);

impl<T> ReflectionPad2dBackward<T> {
    /// ReflectionPad2dBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_`: The forward's input; not read.
    /// - `padding`: Columns left and right, rows above and below of each plane; negative ones are left out of it.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>, padding: [i64; 4]) -> Self {
        Self(Call::new("ReflectionPad2dBackward").input("grad_output", grad_output).input("self", self_).attribute("padding", padding))
    }
}

operator!(ReflectionPad2dBackward, "grad_input");

/// Rows with their first and last elements repeated before and behind.
///
/// ```text
/// out[w] = self[min(max(w - padding[0], 0), W - 1)]
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct ReplicationPad1d<T = Tensor>(Call<T>);

impl<T> ReplicationPad1d<T> {
    /// ReplicationPad1d of what it needs:
    ///
    /// - `self_`: The input.
    /// - `padding`: Elements before and behind each row; negative ones are left out of it.
    pub fn new(self_: impl Into<T>, padding: [i64; 2]) -> Self {
        Self(Call::new("ReplicationPad1d").input("self", self_).attribute("padding", padding))
    }
}

operator!(ReplicationPad1d, "out");

/// Gradient of ReplicationPad1d.
///
/// ```text
/// grad_input = for each element the sum of grad_output over the outputs that it is, in their order. Of self only the shape counts. Sums are float64.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct ReplicationPad1dBackward<T = Tensor>(Call<T>);

impl<T> ReplicationPad1dBackward<T> {
    /// ReplicationPad1dBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_`: The forward's input; not read.
    /// - `padding`: Elements before and behind each row; negative ones are left out of it.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>, padding: [i64; 2]) -> Self {
        Self(Call::new("ReplicationPad1dBackward").input("grad_output", grad_output).input("self", self_).attribute("padding", padding))
    }
}

operator!(ReplicationPad1dBackward, "grad_input");

/// Planes with their borders repeated around them.
///
/// ```text
/// out[h][w] = self[min(max(h - padding[2], 0), H - 1)][min(max(w - padding[0], 0), W - 1)]
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct ReplicationPad2d<T = Tensor>(Call<T>);

impl<T> ReplicationPad2d<T> {
    /// ReplicationPad2d of what it needs:
    ///
    /// - `self_`: The input.
    /// - `padding`: Columns left and right, rows above and below of each plane; negative ones are left out of it.
    pub fn new(self_: impl Into<T>, padding: [i64; 4]) -> Self {
        Self(Call::new("ReplicationPad2d").input("self", self_).attribute("padding", padding))
    }
}

operator!(ReplicationPad2d, "out");

/// Gradient of ReplicationPad2d.
///
/// ```text
/// grad_input = for each element the sum of grad_output over the outputs that it is, in their order. Of self only the shape counts. Sums are float64.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct ReplicationPad2dBackward<T = Tensor>(Call<T>);

impl<T> ReplicationPad2dBackward<T> {
    /// ReplicationPad2dBackward of what it needs:
    ///
    /// - `grad_output`: Gradient of the forward's result.
    /// - `self_`: The forward's input; not read.
    /// - `padding`: Columns left and right, rows above and below of each plane; negative ones are left out of it.
    pub fn new(grad_output: impl Into<T>, self_: impl Into<T>, padding: [i64; 4]) -> Self {
        Self(Call::new("ReplicationPad2dBackward").input("grad_output", grad_output).input("self", self_).attribute("padding", padding))
    }
}

operator!(ReplicationPad2dBackward, "grad_input");

/// Resamples planes: each output is the element nearest to it.
///
/// ```text
/// out[h][w] = self[min(floor(h * H / H_out), H - 1)][min(floor(w * W / W_out), W - 1)], the ratio and its products taken in float32, as PyTorch has them.
/// Its gradient is UpsampleNearest2dBackward with self's shape as input_size.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct UpsampleNearest2d<T = Tensor>(Call<T>);

impl<T> UpsampleNearest2d<T> {
    /// UpsampleNearest2d of what it needs:
    ///
    /// - `self_`: The input.
    /// - `output_size`: Height and width of the result.
    pub fn new(self_: impl Into<T>, output_size: [i64; 2]) -> Self {
        Self(Call::new("UpsampleNearest2d").input("self", self_).attribute("output_size", output_size))
    }
}

operator!(UpsampleNearest2d, "out");

/// Gradient of UpsampleNearest2d.
///
/// ```text
/// grad_input = for each element the sum of grad_out over the outputs that it is, in their order. The places are UpsampleNearest2d's, but with 1 / scales_h and 1 / scales_w for the ratios where they are positive and the output's extent is neither that of the input nor twice that, as in PyTorch. Sums are float64.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct UpsampleNearest2dBackward<T = Tensor>(Call<T>);

impl<T> UpsampleNearest2dBackward<T> {
    /// UpsampleNearest2dBackward of what it needs:
    ///
    /// - `grad_out`: Gradient of the forward's result.
    /// - `output_size`: Height and width of the result.
    /// - `input_size`: Shape of the forward's input: N, C, H, W.
    pub fn new(grad_out: impl Into<T>, output_size: [i64; 2], input_size: [i64; 4]) -> Self {
        Self(Call::new("UpsampleNearest2dBackward").input("grad_out", grad_out).attribute("output_size", output_size).attribute("input_size", input_size))
    }

    /// Factor of the height; where it is not positive, H_out / H stands for it. Default: 0.0.
    pub fn scales_h(self, scales_h: f64) -> Self {
        Self(self.0.attribute("scales_h", scales_h))
    }

    /// Factor of the width; where it is not positive, W_out / W stands for it. Default: 0.0.
    pub fn scales_w(self, scales_w: f64) -> Self {
        Self(self.0.attribute("scales_w", scales_w))
    }
}

operator!(UpsampleNearest2dBackward, "grad_input");

/// Resamples planes: each output lies between two rows and two columns.
///
/// ```text
/// out[h][w] = (1 - b) * ((1 - a) * self[y][x] + a * self[y][x + 1]) + b * ((1 - a) * self[y + 1][x] + a * self[y + 1][x + 1]), x + a being the place of w: with align_corners w * (W - 1) / (W_out - 1), else max((w + 0.5) * r - 0.5, 0), r = W / W_out, or 1 / scales_w where that is positive; y + b likewise.
/// There is nothing beyond the last row and column: a place there is theirs. An extent that stays as it is keeps its places. Computed in float64, where PyTorch has float32; an infinity at the border stays one, where PyTorch's 0 * inf makes NaN of it.
/// Its gradient is UpsampleBilinear2dBackward with self's shape as input_size.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct UpsampleBilinear2d<T = Tensor>(Call<T>);

impl<T> UpsampleBilinear2d<T> {
    /// UpsampleBilinear2d of what it needs:
    ///
    /// - `self_`: The input.
    /// - `output_size`: Height and width of the result.
    pub fn new(self_: impl Into<T>, output_size: [i64; 2]) -> Self {
        Self(Call::new("UpsampleBilinear2d").input("self", self_).attribute("output_size", output_size))
    }

    /// Whether the centers of the corners, not their outer edges, lie on each other. Default: false.
    pub fn align_corners(self, align_corners: bool) -> Self {
        Self(self.0.attribute("align_corners", align_corners))
    }

    /// Factor of the height; where it is not positive, H_out / H stands for it. Default: 0.0.
    pub fn scales_h(self, scales_h: f64) -> Self {
        Self(self.0.attribute("scales_h", scales_h))
    }

    /// Factor of the width; where it is not positive, W_out / W stands for it. Default: 0.0.
    pub fn scales_w(self, scales_w: f64) -> Self {
        Self(self.0.attribute("scales_w", scales_w))
    }
}

operator!(UpsampleBilinear2d, "out");

/// Gradient of UpsampleBilinear2d.
///
/// ```text
/// out = for each element the sum of grad_out times its part in the output, over all outputs that it is in, in their order. Places and parts are UpsampleBilinear2d's. Sums are float64.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct UpsampleBilinear2dBackward<T = Tensor>(Call<T>);

impl<T> UpsampleBilinear2dBackward<T> {
    /// UpsampleBilinear2dBackward of what it needs:
    ///
    /// - `grad_out`: Gradient of the forward's result.
    /// - `output_size`: Height and width of the result.
    /// - `input_size`: Shape of the forward's input: N, C, H, W.
    pub fn new(grad_out: impl Into<T>, output_size: [i64; 2], input_size: [i64; 4]) -> Self {
        Self(Call::new("UpsampleBilinear2dBackward").input("grad_out", grad_out).attribute("output_size", output_size).attribute("input_size", input_size))
    }

    /// Whether the centers of the corners, not their outer edges, lie on each other. Default: false.
    pub fn align_corners(self, align_corners: bool) -> Self {
        Self(self.0.attribute("align_corners", align_corners))
    }

    /// Factor of the height; where it is not positive, H_out / H stands for it. Default: 0.0.
    pub fn scales_h(self, scales_h: f64) -> Self {
        Self(self.0.attribute("scales_h", scales_h))
    }

    /// Factor of the width; where it is not positive, W_out / W stands for it. Default: 0.0.
    pub fn scales_w(self, scales_w: f64) -> Self {
        Self(self.0.attribute("scales_w", scales_w))
    }
}

operator!(UpsampleBilinear2dBackward, "out");

/// A row of a matrix for each index.
///
/// ```text
/// out[i, ..., :] = weight[indices[i, ...], :]
/// An index outside of [0, V) is an error.
/// EmbeddingDenseBackward computes the gradient of weight, with num_weights V.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Embedding<T = Tensor>(Call<T>);

impl<T> Embedding<T> {
    /// Embedding of what it needs:
    ///
    /// - `weight`: The rows to choose from.
    /// - `indices`: The number of a row, in \[0, V).
    pub fn new(weight: impl Into<T>, indices: impl Into<T>) -> Self {
        Self(Call::new("Embedding").input("weight", weight).input("indices", indices))
    }
}

operator!(Embedding, "out");

/// Gradient of Embedding with respect to its weight.
///
/// ```text
/// out[v, :] = sum of grad[i, ..., :] where indices[i, ...] = v, added in float64, or with scale_grad_by_freq their mean
/// Of padding_idx the row is 0. An index outside of [0, num_weights) is an error, also where PyTorch would not look at it.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct EmbeddingDenseBackward<T = Tensor>(Call<T>);

impl<T> EmbeddingDenseBackward<T> {
    /// EmbeddingDenseBackward of what it needs:
    ///
    /// - `grad`: Gradient of the forward's result.
    /// - `indices`: The forward's indices, in \[0, num_weights).
    /// - `num_weights`: Rows of the forward's weight.
    pub fn new(grad: impl Into<T>, indices: impl Into<T>, num_weights: i64) -> Self {
        Self(Call::new("EmbeddingDenseBackward").input("grad", grad).input("indices", indices).attribute("num_weights", num_weights))
    }

    /// An index whose row has no gradient; -1, in C its bits, stands for none. Default: -1.
    pub fn padding_idx(self, padding_idx: i64) -> Self {
        Self(self.0.attribute("padding_idx", padding_idx))
    }

    /// Whether the gradient of a row is divided by how often its index comes. Default: false.
    pub fn scale_grad_by_freq(self, scale_grad_by_freq: bool) -> Self {
        Self(self.0.attribute("scale_grad_by_freq", scale_grad_by_freq))
    }
}

operator!(EmbeddingDenseBackward, "out");

/// The sum of two tensors, the second times a scalar.
///
/// ```text
/// out = self + alpha * other, rounded once
/// alpha is taken as float32.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Add<T = Tensor>(Call<T>);

impl<T> Add<T> {
    /// Add of what it needs:
    ///
    /// - `self_`: The first operand.
    /// - `other`: The second operand.
    pub fn new(self_: impl Into<T>, other: impl Into<T>) -> Self {
        Self(Call::new("Add").input("self", self_).input("other", other))
    }

    /// Factor of other. Default: 1.0.
    pub fn alpha(self, alpha: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("alpha", alpha))
    }
}

operator!(Add, "out");

/// The difference of two tensors, the second times a scalar.
///
/// ```text
/// out = self - alpha * other, rounded once
/// alpha is taken as float32.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Sub<T = Tensor>(Call<T>);

impl<T> Sub<T> {
    /// Sub of what it needs:
    ///
    /// - `self_`: The first operand.
    /// - `other`: The second operand.
    pub fn new(self_: impl Into<T>, other: impl Into<T>) -> Self {
        Self(Call::new("Sub").input("self", self_).input("other", other))
    }

    /// Factor of other. Default: 1.0.
    pub fn alpha(self, alpha: impl Into<Attribute>) -> Self {
        Self(self.0.attribute("alpha", alpha))
    }
}

operator!(Sub, "out");

/// The product of two tensors.
///
/// ```text
/// out = self * other
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Mul<T = Tensor>(Call<T>);

impl<T> Mul<T> {
    /// Mul of what it needs:
    ///
    /// - `self_`: The first operand.
    /// - `other`: The second operand.
    pub fn new(self_: impl Into<T>, other: impl Into<T>) -> Self {
        Self(Call::new("Mul").input("self", self_).input("other", other))
    }
}

operator!(Mul, "out");

/// The quotient of two tensors.
///
/// ```text
/// out = self / other
/// Division by 0 gives an infinity, 0 / 0 gives NaN.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Div<T = Tensor>(Call<T>);

impl<T> Div<T> {
    /// Div of what it needs:
    ///
    /// - `self_`: The first operand.
    /// - `other`: The second operand.
    pub fn new(self_: impl Into<T>, other: impl Into<T>) -> Self {
        Self(Call::new("Div").input("self", self_).input("other", other))
    }
}

operator!(Div, "out");

/// A tensor in another dtype.
///
/// ```text
/// out = self, rounded to nearest, to even where two are as near
/// What is larger than all numbers of the dtype becomes an infinity. In C dtype is an aclDataType.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Cast<T = Tensor>(Call<T>);

impl<T> Cast<T> {
    /// Cast of what it needs:
    ///
    /// - `self_`: The input.
    /// - `dtype`: The dtype of out.
    pub fn new(self_: impl Into<T>, dtype: CastDtype) -> Self {
        Self(Call::new("Cast").input("self", self_).attribute("dtype", dtype))
    }
}

operator!(Cast, "out");

/// A copy of a tensor with its dimensions in another order.
///
/// ```text
/// Dimension i of out is dimension dims[i] of self.
/// Its gradient is Permute with the inverse order.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Permute<T = Tensor>(Call<T>);

impl<T> Permute<T> {
    /// Permute of what it needs:
    ///
    /// - `self_`: The input.
    /// - `dims`: The dimensions of self in the order of out's, each once; negative ones count from the last.
    pub fn new(self_: impl Into<T>, dims: impl Into<Vec<i64>>) -> Self {
        Self(Call::new("Permute").input("self", self_).attribute("dims", Attribute::Ints(dims.into())))
    }
}

operator!(Permute, "out");

/// The sum of a tensor's elements over some of its dimensions.
///
/// ```text
/// out = Σ self over dims
/// It adds in float32, sums of many terms in float64, and rounds once. The sum of no elements is 0. The gradient of what was broadcast is the sum over the dimensions that broadcasting made. In C dtype is an aclDataType.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct ReduceSum<T = Tensor>(Call<T>);

impl<T> ReduceSum<T> {
    /// ReduceSum of what it needs:
    ///
    /// - `self_`: The input.
    /// - `dims`: The dimensions over which it goes, each once; negative ones count from the last; none: all.
    pub fn new(self_: impl Into<T>, dims: impl Into<Vec<i64>>) -> Self {
        Self(Call::new("ReduceSum").input("self", self_).attribute("dims", Attribute::Ints(dims.into())))
    }

    /// Whether out keeps those dimensions, with extent 1. Default: false.
    pub fn keep_dims(self, keep_dims: bool) -> Self {
        Self(self.0.attribute("keep_dims", keep_dims))
    }

    /// The dtype of out. Default: self.
    pub fn dtype(self, dtype: ReduceSumDtype) -> Self {
        Self(self.0.attribute("dtype", dtype))
    }
}

operator!(ReduceSum, "out");

/// The mean of a tensor's elements over some of its dimensions.
///
/// ```text
/// out = Σ self / n over dim, n the elements of each sum
/// It adds as ReduceSum does. The mean of no elements is NaN. In C dtype is an aclDataType.
/// ```
#[derive(Clone, Debug)]
#[must_use = "an operator does nothing until it is applied"]
pub struct Mean<T = Tensor>(Call<T>);

impl<T> Mean<T> {
    /// Mean of what it needs:
    ///
    /// - `self_`: The input.
    /// - `dim`: The dimensions over which it goes, each once; negative ones count from the last; none: all.
    pub fn new(self_: impl Into<T>, dim: impl Into<Vec<i64>>) -> Self {
        Self(Call::new("Mean").input("self", self_).attribute("dim", Attribute::Ints(dim.into())))
    }

    /// Whether out keeps those dimensions, with extent 1. Default: false.
    pub fn keep_dim(self, keep_dim: bool) -> Self {
        Self(self.0.attribute("keep_dim", keep_dim))
    }

    /// The dtype of out. Default: self.
    pub fn dtype(self, dtype: ReduceSumDtype) -> Self {
        Self(self.0.attribute("dtype", dtype))
    }
}

operator!(Mean, "out");
