// BatchNorm and BatchNormBackward: schema and inference.
#include <vector>

#include "core/ops/norm_checks.h"

namespace opserve::batch_norm {
namespace {

// Inputs of the forward and of the backward, which stand in one order there.
constexpr int kRunningMean = 3;

constexpr std::string_view kData = "(N, C, ...), of rank 2 to 8";
constexpr std::string_view kChannels = "(C)";

constexpr TensorParam kWeight = {"weight", "scale of each channel; 1 when not given", kChannels,
                                 kFloatDTypes, Presence::kOptional};
constexpr TensorParam kForwardInputs[] = {
    {"input", "the input", kData, kFloatDTypes},
    kWeight,
    {"bias", "offset of each channel; 0 when not given", kChannels, kFloatDTypes,
     Presence::kOptional},
    {"running_mean", "mean of each channel over earlier calls; needed unless training", kChannels,
     kFloatDTypes, Presence::kOptional},
    {"running_var", "variance of each channel over earlier calls; needed unless training",
     kChannels, kFloatDTypes, Presence::kOptional}};

constexpr AttributeParam kTraining = {
    .name = "training",
    .summary = "whether to normalize with the statistics of input, else with the running ones",
    .kind = AttributeKind::kBool};
constexpr AttributeParam kEps = {.name = "eps",
                                 .summary = "added to the variance",
                                 .kind = AttributeKind::kFloat,
                                 .default_value = AttributeDefault::Float(1e-5),
                                 .range = kNotNegative};
constexpr AttributeParam kForwardAttributes[] = {
    kTraining,
    {.name = "momentum",
     .summary = "how much of the running statistics this call's become",
     .kind = AttributeKind::kFloat,
     .default_value = AttributeDefault::Float(0.1),
     .range = AttributeRange()},
    kEps};
constexpr TensorParam kForwardOutputs[] = {
    {"output", "the normalized input", "input's", kFloatDTypes},
    {"save_mean", "mean of each channel; running_mean unless training", kChannels, kFloatDTypes},
    {"save_invstd", "1 / sqrt(variance + eps) of each channel; of running_var unless training",
     kChannels, kFloatDTypes},
    {.name = "running_mean_out",
     .summary = "running_mean with this call's mean; empty unless training with a running_mean",
     .shape = kChannels,
     .dtypes = kFloatDTypes,
     .presence = Presence::kOptional},
    {.name = "running_var_out",
     .summary = "running_var with this call's variance; empty unless training with a running_var",
     .shape = kChannels,
     .dtypes = kFloatDTypes,
     .presence = Presence::kOptional}};

constexpr bool kAllOutputs[] = {true, true, true};
constexpr TensorParam kBackwardInputs[] = {
    {"grad_out", "gradient of BatchNorm's output", "input's", kFloatDTypes},
    {"input", "the input of BatchNorm", kData, kFloatDTypes},
    kWeight,
    {"running_mean", "the running_mean of BatchNorm; needed, and read, unless training", kChannels,
     kFloatDTypes, Presence::kOptional},
    {"running_var", "the running_var of BatchNorm; needed, and read, unless training", kChannels,
     kFloatDTypes, Presence::kOptional},
    {"save_mean", "mean of each channel; needed, and read, in training",
     "(C); unless training also empty", kFloatDTypes, Presence::kOptional},
    {"save_invstd", "1 / sqrt(variance + eps) of each channel; needed, and read, in training",
     "(C); unless training also empty", kFloatDTypes, Presence::kOptional}};
constexpr AttributeParam kBackwardAttributes[] = {
    kTraining,
    kEps,
    {.name = "output_mask",
     .summary = "which of grad_input, grad_weight and grad_bias to compute",
     .kind = AttributeKind::kBoolList,
     .default_value = AttributeDefault::BoolList(kAllOutputs),
     .list_length = 3}};
constexpr TensorParam kBackwardOutputs[] = {
    {"grad_input", "gradient of input", "input's", kFloatDTypes, Presence::kOptional},
    {"grad_weight", "gradient of weight", kChannels, kFloatDTypes, Presence::kOptional},
    {"grad_bias", "gradient of bias", kChannels, kFloatDTypes, Presence::kOptional}};

constexpr GradientInput kGradientInputs[] = {
    {"grad_out", GradientInput::Source::kOutputGradient, "output"},
    {"input", GradientInput::Source::kInput, "input"},
    {"weight", GradientInput::Source::kInput, "weight"},
    {"running_mean", GradientInput::Source::kInput, "running_mean"},
    {"running_var", GradientInput::Source::kInput, "running_var"},
    {"save_mean", GradientInput::Source::kOutput, "save_mean"},
    {"save_invstd", GradientInput::Source::kOutput, "save_invstd"}};
constexpr GradientOutput kGradientOutputs[] = {
    {"grad_input", "input"}, {"grad_weight", "weight"}, {"grad_bias", "bias"}};

constexpr DTypeSet kNoBFloat16 = {DType::kFloat16, DType::kFloat32};
constexpr ProfileSupport kForwardSupport = {kFloatDTypes, kFloatDTypes, kFloatDTypes, kNoBFloat16,
                                            kNoBFloat16};
constexpr ProfileSupport kBackwardSupport = {kFloatDTypes, kFloatDTypes, kFloatDTypes, kNoBFloat16,
                                             DTypeSet{}};

// One supported dtype for the inputs.
absl::Status CheckInputDTypes(const OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckInputsSupported(call));
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    if (!call.inputs[i].has_value()) continue;
    OPSERVE_RETURN_IF_ERROR(
        CheckDTypeLike(call, call.op->inputs[i].name, call.inputs[i]->dtype, 0));
  }
  return absl::OkStatus();
}

// That of the inputs, where the output is wanted.
absl::Status CheckWantedDType(const OpCall& call, int output, bool wanted) {
  if (!wanted) return absl::OkStatus();
  return CheckDTypeLike(call, call.op->outputs[static_cast<size_t>(output)].name,
                        OutputDType(call, output, call.input(0).dtype), 0);
}

bool IsTraining(const OpCall& call) { return call.attribute<bool>(0); }

// Both inputs from `first` on were given, as `training` is `value`.
absl::Status CheckStatisticsGiven(const OpCall& call, int first, std::string_view value) {
  for (const int input : {first, first + 1}) {
    if (call.has_input(input)) continue;
    return InvalidParameter(call.op->inputs[static_cast<size_t>(input)].name,
                            absl::StrCat("a tensor, as training is ", std::string(value)), "none");
  }
  return absl::OkStatus();
}

absl::Status CheckDataRank(const OpCall& call, int data) {
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  if (call.input(data).rank() >= 2) return absl::OkStatus();
  return ShapeMismatch(call.op->inputs[static_cast<size_t>(data)].name, "rank 2 to 8",
                       absl::StrCat("rank ", call.input(data).rank()));
}

bool IsRunningWanted(const OpCall& call, int output) {
  return IsTraining(call) && call.has_input(output) &&
         call.output(output).origin != OutputSlot::Origin::kMissing;
}

absl::Status InferForward(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckInputDTypes(call));
  for (int i = 0; i < 5; ++i)
    OPSERVE_RETURN_IF_ERROR(CheckWantedDType(call, i, i < 3 || IsRunningWanted(call, i)));
  for (const int attribute : {1, 2}) OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, attribute));
  if (!IsTraining(call)) OPSERVE_RETURN_IF_ERROR(CheckStatisticsGiven(call, kRunningMean, "false"));
  OPSERVE_RETURN_IF_ERROR(CheckDataRank(call, 0));
  const Dims& shape = call.input(0).shape;
  const int64_t channels[] = {shape[1]};
  for (int i = 1; i < 5; ++i) OPSERVE_RETURN_IF_ERROR(CheckShape(call, i, channels));
  const DType dtype = call.input(0).dtype;
  OPSERVE_RETURN_IF_ERROR(SettleOutput(call, 0, dtype, shape));
  for (int i = 1; i < 5; ++i) {
    if (i < 3 || IsRunningWanted(call, i)) {
      OPSERVE_RETURN_IF_ERROR(SettleOutput(call, i, dtype, channels));
    } else {
      MaskOutput(call, i, dtype);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBackwardShapes(const OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckDataRank(call, 1));
  const Dims& shape = call.input(1).shape;
  OPSERVE_RETURN_IF_ERROR(CheckShape(call, 0, shape));
  const int64_t channels[] = {shape[1]};
  for (int i = 2; i < 7; ++i) {
    const bool may_be_empty = !IsTraining(call) && i >= 5 && call.has_input(i);
    if (may_be_empty && call.input(i).num_elements() == 0) continue;
    OPSERVE_RETURN_IF_ERROR(CheckShape(call, i, channels));
  }
  return absl::OkStatus();
}

absl::Status InferBackward(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckInputDTypes(call));
  OPSERVE_RETURN_IF_ERROR(CheckOutputMask(call, 2));
  const auto& mask = call.attribute<std::vector<bool>>(2);
  for (int i = 0; i < 3; ++i)
    OPSERVE_RETURN_IF_ERROR(CheckWantedDType(call, i, mask[static_cast<size_t>(i)]));
  OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, 1));
  OPSERVE_RETURN_IF_ERROR(IsTraining(call) ? CheckStatisticsGiven(call, 5, "true")
                                           : CheckStatisticsGiven(call, kRunningMean, "false"));
  OPSERVE_RETURN_IF_ERROR(CheckBackwardShapes(call));
  const Dims& shape = call.input(1).shape;
  const int64_t channels[] = {shape[1]};
  const DType dtype = call.input(0).dtype;
  for (int i = 0; i < 3; ++i) {
    if (!mask[static_cast<size_t>(i)]) {
      MaskOutput(call, i, dtype);
    } else if (i == 0) {
      OPSERVE_RETURN_IF_ERROR(SettleOutput(call, i, dtype, shape));
    } else {
      OPSERVE_RETURN_IF_ERROR(SettleOutput(call, i, dtype, channels));
    }
  }
  return absl::OkStatus();
}

}  // namespace

extern constinit const Operator kBatchNorm = {
    .name = "BatchNorm",
    .summary =
        "Normalizes each channel to mean 0 and variance 1, over the batch or with running "
        "statistics, then scales and offsets it.",
    .description =
        "output = (input - mean) * invstd * weight + bias, invstd = 1 / sqrt(variance + eps)\n"
        "In training mean and the biased variance are those of the channel, dimension 1 of input, "
        "over all other dimensions; else they are running_mean and running_var. save_mean and "
        "save_invstd are the mean and invstd that were used. A channel without elements has mean "
        "0 and invstd NaN.\n"
        "running_mean and running_var are not changed. In training, where they are given, "
        "running_mean_out = (1 - momentum) * running_mean + momentum * mean, and running_var_out "
        "likewise with the unbiased variance, which is NaN for a single element; without elements "
        "both stay as they were. Else they are empty. The C function has no such outputs: it "
        "changes running_mean and running_var themselves.",
    .inputs = kForwardInputs,
    .attributes = kForwardAttributes,
    .outputs = kForwardOutputs,
    .support = kForwardSupport,
    .gradient = {.op = "BatchNormBackward",
                 .inputs = kGradientInputs,
                 .outputs = kGradientOutputs,
                 .output_mask = "output_mask"},
    .infer = InferForward,
};

extern constinit const Operator kBatchNormBackward = {
    .name = "BatchNormBackward",
    .summary = "Gradients of BatchNorm with respect to its input, weight and bias.",
    .description =
        "In training, with x = (input - save_mean) * save_invstd and means over all dimensions "
        "but the channels':\n"
        "grad_input = (grad_out - mean(grad_out) - x * mean(grad_out * x)) * save_invstd * weight; "
        "grad_weight = sum(grad_out * x), grad_bias = sum(grad_out).\n"
        "Else, with invstd = 1 / sqrt(running_var + eps): grad_input = grad_out * invstd * weight; "
        "grad_weight = sum(grad_out * (input - running_mean) * invstd), grad_bias = "
        "sum(grad_out).\n"
        "The statistics are taken as given. An output that output_mask leaves out is empty and not "
        "computed.",
    .inputs = kBackwardInputs,
    .attributes = kBackwardAttributes,
    .outputs = kBackwardOutputs,
    .support = kBackwardSupport,
    .infer = InferBackward,
};

}  // namespace opserve::batch_norm
