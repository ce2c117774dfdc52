// LayerNorm and LayerNormBackward: schema and inference.
#include <vector>

#include "core/ops/norm_checks.h"

namespace opserve::layer_norm {
namespace {

constexpr AttributeParam kNormalizedShape = {
    .name = "normalized_shape",
    .summary = "the last dimensions of input, which are normalized together; at least one",
    .kind = AttributeKind::kIntList,
    .range = kNotNegative};

constexpr std::string_view kStatistic = "input's, with 1 for what is normalized";

constexpr TensorParam kWeight = {"weight", "scale of each normalized element; 1 when not given",
                                 "normalized_shape", kFloatDTypes, Presence::kOptional};
constexpr TensorParam kForwardInputs[] = {
    {"input", "the input", "(..., normalized_shape)", kFloatDTypes},
    kWeight,
    {"bias", "offset of each normalized element; 0 when not given", "normalized_shape",
     kFloatDTypes, Presence::kOptional}};
constexpr AttributeParam kForwardAttributes[] = {kNormalizedShape,
                                                 {.name = "eps",
                                                  .summary = "added to the variance",
                                                  .kind = AttributeKind::kFloat,
                                                  .default_value = AttributeDefault::Float(1e-5),
                                                  .range = kNotNegative}};
constexpr TensorParam kForwardOutputs[] = {
    {"out", "the normalized input", "input's", kFloatDTypes},
    {"mean", "mean of each group of elements", kStatistic, kFloatDTypes, Presence::kOptional},
    {"rstd", "1 / sqrt(variance + eps) of each", kStatistic, kFloatDTypes, Presence::kOptional}};

constexpr bool kAllOutputs[] = {true, true, true};
constexpr std::string_view kRows = "any of one element for each group";
constexpr TensorParam kBackwardInputs[] = {
    {"grad_out", "gradient of LayerNorm's out", "input's", kFloatDTypes},
    {"input", "the input of LayerNorm", "(..., normalized_shape)", kFloatDTypes},
    {"mean", "mean of each group of elements", kRows, kFloatDTypes},
    {"rstd", "1 / sqrt(variance + eps) of each", kRows, kFloatDTypes},
    kWeight,
    {"bias", "the bias of LayerNorm; not read", "normalized_shape", kFloatDTypes,
     Presence::kOptional}};
constexpr AttributeParam kBackwardAttributes[] = {
    kNormalizedShape,
    {.name = "output_mask",
     .summary = "which of grad_input, grad_weight and grad_bias to compute",
     .kind = AttributeKind::kBoolList,
     .default_value = AttributeDefault::BoolList(kAllOutputs),
     .list_length = 3}};
constexpr TensorParam kBackwardOutputs[] = {
    {"grad_input", "gradient of input", "input's", kFloatDTypes, Presence::kOptional},
    {"grad_weight", "gradient of weight", "normalized_shape", kFloatDTypes, Presence::kOptional},
    {"grad_bias", "gradient of bias", "normalized_shape", kFloatDTypes, Presence::kOptional}};

constexpr std::string_view kForwardOrder[] = {
    "input", "normalized_shape", "weight", "bias", "eps", "out", "mean", "rstd"};
constexpr std::string_view kBackwardOrder[] = {
    "grad_out", "input",       "normalized_shape", "mean",        "rstd",     "weight",
    "bias",     "output_mask", "grad_input",       "grad_weight", "grad_bias"};

constexpr GradientInput kGradientInputs[] = {
    {"grad_out", GradientInput::Source::kOutputGradient, "out"},
    {"input", GradientInput::Source::kInput, "input"},
    {"mean", GradientInput::Source::kOutput, "mean"},
    {"rstd", GradientInput::Source::kOutput, "rstd"},
    {"weight", GradientInput::Source::kInput, "weight"},
    {"bias", GradientInput::Source::kInput, "bias"}};
constexpr GradientOutput kGradientOutputs[] = {
    {"grad_input", "input"}, {"grad_weight", "weight"}, {"grad_bias", "bias"}};

constexpr DTypeSet kNoBFloat16 = {DType::kFloat16, DType::kFloat32};
constexpr ProfileSupport kForwardSupport = {kFloatDTypes, kFloatDTypes, kFloatDTypes, kNoBFloat16,
                                            DTypeSet{}};
constexpr ProfileSupport kBackwardSupport = {kFloatDTypes, kFloatDTypes, kFloatDTypes, kNoBFloat16,
                                             kNoBFloat16};

const std::vector<int64_t>& NormalizedShape(const OpCall& call) {
  return call.attribute<std::vector<int64_t>>(0);
}

// The dtype of the parameters that the call has: weight's, bias's, or else that of the data.
DType ParameterDType(const OpCall& call, int data, int weight) {
  for (const int parameter : {weight, weight + 1}) {
    if (call.has_input(parameter)) return call.input(parameter).dtype;
  }
  return call.input(data).dtype;
}

// The two inputs, of which either may be missing, have one dtype: the data's or float32.
absl::Status CheckPairOfInputs(const OpCall& call, int first, int data) {
  for (const int input : {first, first + 1}) {
    if (!call.has_input(input)) continue;
    OPSERVE_RETURN_IF_ERROR(CheckDTypeLikeOrFloat(
        call, call.op->inputs[static_cast<size_t>(input)].name, call.input(input).dtype, data));
  }
  if (!call.has_input(first) || !call.has_input(first + 1)) return absl::OkStatus();
  return CheckDTypeLike(call, call.op->inputs[static_cast<size_t>(first) + 1].name,
                        call.input(first + 1).dtype, first);
}

bool IsMissing(const OpCall& call, int output) {
  return call.output(output).origin == OutputSlot::Origin::kMissing;
}

absl::Status CheckForwardDTypes(const OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckInputsSupported(call));
  OPSERVE_RETURN_IF_ERROR(CheckPairOfInputs(call, 1, 0));
  OPSERVE_RETURN_IF_ERROR(
      CheckDTypeLike(call, "out", OutputDType(call, 0, call.input(0).dtype), 0));
  for (const int output : {1, 2}) {
    if (IsMissing(call, output)) continue;
    OPSERVE_RETURN_IF_ERROR(
        CheckDTypeLikeOrFloat(call, call.op->outputs[static_cast<size_t>(output)].name,
                              OutputDType(call, output, ParameterDType(call, 0, 1)), 0));
  }
  return absl::OkStatus();
}

// That of the data is `data`.
absl::Status CheckShapes(const OpCall& call, int data, int weight) {
  const std::vector<int64_t>& normalized = NormalizedShape(call);
  OPSERVE_RETURN_IF_ERROR(CheckNormalized(call, data, normalized, "normalized_shape"));
  OPSERVE_RETURN_IF_ERROR(CheckShape(call, weight, normalized));
  return CheckShape(call, weight + 1, normalized);
}

absl::Status InferForward(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckForwardDTypes(call));
  for (const int attribute : {0, 1}) OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, attribute));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  OPSERVE_RETURN_IF_ERROR(CheckShapes(call, 0, 1));
  const DType statistic = ParameterDType(call, 0, 1);
  const Dims& shape = call.input(0).shape;
  OPSERVE_RETURN_IF_ERROR(SettleOutput(call, 0, call.input(0).dtype, shape));
  for (const int output : {1, 2}) {
    if (IsMissing(call, output)) {
      MaskOutput(call, output, statistic);
    } else {
      OPSERVE_RETURN_IF_ERROR(SettleOutput(call, output, statistic,
                                           StatisticsShape(shape, NormalizedShape(call).size())));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBackwardDTypes(const OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckInputsSupported(call));
  OPSERVE_RETURN_IF_ERROR(CheckDTypeLike(call, "input", call.input(1).dtype, 0));
  OPSERVE_RETURN_IF_ERROR(CheckPairOfInputs(call, 2, 1));
  OPSERVE_RETURN_IF_ERROR(CheckPairOfInputs(call, 4, 1));
  OPSERVE_RETURN_IF_ERROR(CheckOutputMask(call, 1));
  const auto& mask = call.attribute<std::vector<bool>>(1);
  for (int i = 0; i < 3; ++i) {
    const DType want = i == 0 ? call.input(1).dtype : ParameterDType(call, 1, 4);
    const DType dtype = OutputDType(call, i, want);
    if (!mask[static_cast<size_t>(i)] || dtype == want) continue;
    return UnsupportedDType(call.op->outputs[static_cast<size_t>(i)].name, DTypeName(want),
                            DTypeName(dtype));
  }
  return absl::OkStatus();
}

absl::Status InferBackward(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckBackwardDTypes(call));
  OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, 0));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  OPSERVE_RETURN_IF_ERROR(CheckShape(call, 0, call.input(1).shape));
  OPSERVE_RETURN_IF_ERROR(CheckShapes(call, 1, 4));
  const std::vector<int64_t>& normalized = NormalizedShape(call);
  const Dims rows = StatisticsShape(call.input(1).shape, normalized.size());
  for (const int statistic : {2, 3}) {
    OPSERVE_RETURN_IF_ERROR(CheckNumElements(call, statistic, rows, ShapeToString(rows)));
  }
  const auto& mask = call.attribute<std::vector<bool>>(1);
  for (int i = 0; i < 3; ++i) {
    const DType dtype = i == 0 ? call.input(1).dtype : ParameterDType(call, 1, 4);
    if (!mask[static_cast<size_t>(i)]) {
      MaskOutput(call, i, dtype);
    } else if (i == 0) {
      OPSERVE_RETURN_IF_ERROR(SettleOutput(call, i, dtype, call.input(1).shape));
    } else {
      OPSERVE_RETURN_IF_ERROR(SettleOutput(call, i, dtype, normalized));
    }
  }
  return absl::OkStatus();
}

}  // namespace

extern constinit const Operator kLayerNorm = {
    .name = "LayerNorm",
    .summary =
        "Normalizes the last dimensions to mean 0 and variance 1, then scales and offsets each "
        "element.",
    .description =
        "out = (input - mean) * rstd * weight + bias, rstd = 1 / sqrt(variance + eps)\n"
        "mean and the biased variance are those of the elements that have all but the last "
        "dimensions, normalized_shape, in common. Where normalized_shape has no elements mean is "
        "0 and rstd NaN.\n"
        "weight and bias have the dtype of input, or both float32. mean and rstd have that of "
        "weight and bias, or of input where neither is given; that of input and float32 may be "
        "asked for.",
    .inputs = kForwardInputs,
    .attributes = kForwardAttributes,
    .outputs = kForwardOutputs,
    .support = kForwardSupport,
    .gradient = {.op = "LayerNormBackward",
                 .inputs = kGradientInputs,
                 .outputs = kGradientOutputs,
                 .output_mask = "output_mask"},
    .c_order = kForwardOrder,
    .infer = InferForward,
};

extern constinit const Operator kLayerNormBackward = {
    .name = "LayerNormBackward",
    .summary = "Gradients of LayerNorm with respect to its input, weight and bias.",
    .description =
        "With x = (input - mean) * rstd, g = grad_out * weight, and means over the elements that "
        "were normalized together:\n"
        "grad_input = (g - mean(g) - x * mean(g * x)) * rstd; grad_weight = sum(grad_out * x) and "
        "grad_bias = sum(grad_out) over all but the last dimensions.\n"
        "mean and rstd are taken as given, in the dtype of input or float32. grad_weight and "
        "grad_bias have the dtype of weight and bias, or of input where neither is given. An "
        "output that output_mask leaves out is empty and not computed. Without a weight PyTorch "
        "has no grad_weight and grad_bias; here they are those of a weight of ones.",
    .inputs = kBackwardInputs,
    .attributes = kBackwardAttributes,
    .outputs = kBackwardOutputs,
    .support = kBackwardSupport,
    .c_order = kBackwardOrder,
    .infer = InferBackward,
};

}  // namespace opserve::layer_norm
