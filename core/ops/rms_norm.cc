// RmsNorm and RmsNormGrad: schema and inference.
#include "core/ops/norm_checks.h"

namespace opserve::rms_norm {
namespace {

constexpr DTypeSet kFloat32Only = {DType::kFloat32};
constexpr std::string_view kDataShape = "(..., gamma's)";

constexpr TensorParam kGamma = {
    "gamma", "scale of each normalized element; its shape is that of what is normalized together",
    "x's last dimensions, at least one", kFloatDTypes};
constexpr TensorParam kForwardInputs[] = {{"x", "the input", kDataShape, kFloatDTypes}, kGamma};
constexpr AttributeParam kForwardAttributes[] = {{.name = "epsilon",
                                                  .summary = "added to the mean of the squares",
                                                  .kind = AttributeKind::kFloat,
                                                  .default_value = AttributeDefault::Float(1e-6),
                                                  .range = kNotNegative}};
constexpr TensorParam kForwardOutputs[] = {
    {"y", "the normalized input", "x's", kFloatDTypes},
    {"rstd", "1 / sqrt(mean of the squares + epsilon) of each group of elements",
     "x's, with 1 for what is normalized", kFloat32Only}};

constexpr TensorParam kBackwardInputs[] = {
    {"dy", "gradient of RmsNorm's y", "x's", kFloatDTypes},
    {"x", "the input of RmsNorm", kDataShape, kFloatDTypes},
    {"rstd", "1 / sqrt(mean of the squares + epsilon) of each group of elements",
     "any of one element for each group", kFloat32Only},
    kGamma};
constexpr TensorParam kBackwardOutputs[] = {
    {"dx", "gradient of x", "x's", kFloatDTypes},
    {"dgamma", "gradient of gamma", "gamma's", kFloat32Only}};

constexpr GradientInput kGradientInputs[] = {{"dy", GradientInput::Source::kOutputGradient, "y"},
                                             {"x", GradientInput::Source::kInput, "x"},
                                             {"rstd", GradientInput::Source::kOutput, "rstd"},
                                             {"gamma", GradientInput::Source::kInput, "gamma"}};
constexpr GradientOutput kGradientOutputs[] = {{"dx", "x"}, {"dgamma", "gamma"}};

constexpr ProfileSupport kSupport = {kFloatDTypes, kFloatDTypes, kFloatDTypes, DTypeSet{},
                                     DTypeSet{DType::kFloat16, DType::kFloat32}};

absl::Status CheckFloat32(std::string_view parameter, DType dtype) {
  if (dtype == DType::kFloat32) return absl::OkStatus();
  return UnsupportedDType(parameter, DTypeName(DType::kFloat32), DTypeName(dtype));
}

absl::Status InferForward(OpCall& call) {
  const DType dtype = call.input(0).dtype;
  OPSERVE_RETURN_IF_ERROR(CheckInputsSupported(call));
  OPSERVE_RETURN_IF_ERROR(CheckDTypeLikeOrFloat(call, "gamma", call.input(1).dtype, 0));
  OPSERVE_RETURN_IF_ERROR(CheckDTypeLike(call, "y", OutputDType(call, 0, dtype), 0));
  OPSERVE_RETURN_IF_ERROR(CheckFloat32("rstd", OutputDType(call, 1, DType::kFloat32)));
  OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, 0));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  const Dims& gamma = call.input(1).shape;
  OPSERVE_RETURN_IF_ERROR(CheckNormalized(call, 0, gamma, "gamma"));
  const Dims& shape = call.input(0).shape;
  OPSERVE_RETURN_IF_ERROR(SettleOutput(call, 0, dtype, shape));
  return SettleOutput(call, 1, DType::kFloat32, StatisticsShape(shape, gamma.size()));
}

absl::Status InferBackward(OpCall& call) {
  const DType dtype = call.input(0).dtype;
  OPSERVE_RETURN_IF_ERROR(CheckInputsSupported(call));
  OPSERVE_RETURN_IF_ERROR(CheckDTypeLike(call, "x", call.input(1).dtype, 0));
  OPSERVE_RETURN_IF_ERROR(CheckFloat32("rstd", call.input(2).dtype));
  OPSERVE_RETURN_IF_ERROR(CheckDTypeLikeOrFloat(call, "gamma", call.input(3).dtype, 1));
  OPSERVE_RETURN_IF_ERROR(CheckDTypeLike(call, "dx", OutputDType(call, 0, dtype), 1));
  OPSERVE_RETURN_IF_ERROR(CheckFloat32("dgamma", OutputDType(call, 1, DType::kFloat32)));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  const Dims& shape = call.input(1).shape;
  const Dims& gamma = call.input(3).shape;
  OPSERVE_RETURN_IF_ERROR(CheckShape(call, 0, shape));
  OPSERVE_RETURN_IF_ERROR(CheckNormalized(call, 1, gamma, "gamma"));
  const Dims rows = StatisticsShape(shape, gamma.size());
  OPSERVE_RETURN_IF_ERROR(CheckNumElements(call, 2, rows, ShapeToString(rows)));
  OPSERVE_RETURN_IF_ERROR(SettleOutput(call, 0, dtype, shape));
  return SettleOutput(call, 1, DType::kFloat32, gamma);
}

}  // namespace

extern constinit const Operator kRmsNorm = {
    .name = "RmsNorm",
    .summary = "Divides the last dimensions by their root mean square, then scales each element.",
    .description =
        "y = x * rstd * gamma, rstd = 1 / sqrt(mean(x^2) + epsilon)\n"
        "The mean is that of the elements that have all but the last dimensions, gamma's, in "
        "common.\n"
        "gamma has the dtype of x, or float32; rstd is float32.",
    .inputs = kForwardInputs,
    .attributes = kForwardAttributes,
    .outputs = kForwardOutputs,
    .support = kSupport,
    .gradient = {.op = "RmsNormGrad", .inputs = kGradientInputs, .outputs = kGradientOutputs},
    .infer = InferForward,
};

extern constinit const Operator kRmsNormGrad = {
    .name = "RmsNormGrad",
    .summary = "Gradients of RmsNorm with respect to x and gamma.",
    .description =
        "With means over the elements that were normalized together:\n"
        "dx = (dy * gamma - x * rstd * mean(dy * gamma * x * rstd)) * rstd; dgamma = sum(dy * x * "
        "rstd) over all but the last dimensions.\n"
        "rstd is taken as given. gamma has the dtype of x, or float32; rstd and dgamma are "
        "float32.",
    .inputs = kBackwardInputs,
    .outputs = kBackwardOutputs,
    .support = kSupport,
    .infer = InferBackward,
};

}  // namespace opserve::rms_norm
