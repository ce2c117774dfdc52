// Softmax, LogSoftmax and their gradients: schemas and inference.
#include "core/ops/activation_schema.h"
#include "core/ops/dimension_schema.h"

namespace opserve::softmax {
namespace {

constexpr TensorParam kSoftmaxGradientInputs[] = {
    {"grad_output", "gradient of the forward's result", "any", kFloatDTypes},
    {"output", "the forward's result", "grad_output's", kFloatDTypes}};
constexpr TensorParam kSoftmaxGradientOutputs[] = {
    {"out", "gradient of the forward's input", "grad_output's", kFloatDTypes}};
constexpr AttributeParam kSoftmaxAttributes[] = {kDimAttribute};

absl::Status InferSoftmax(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckOneDType(call, 0));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  OPSERVE_RETURN_IF_ERROR(CheckDimension(call, 0, call.input(0).shape));
  OPSERVE_RETURN_IF_ERROR(CheckOneShape(call));
  return SettleOutput(call, 0, call.input(0).dtype, call.input(0).shape);
}

constexpr Operator SoftmaxForward(std::string_view name, std::string_view summary,
                                  std::string_view description, std::string_view gradient) {
  return {.name = name,
          .summary = summary,
          .description = description,
          .inputs = kActivationInputs,
          .attributes = kSoftmaxAttributes,
          .outputs = kActivationOutputs,
          .support = kActivationSupport,
          .gradient = {.op = gradient, .inputs = kTakesResult, .outputs = kGivesGradOut},
          .infer = InferSoftmax};
}

constexpr Operator SoftmaxGradient(std::string_view name, std::string_view summary,
                                   std::string_view description) {
  return {.name = name,
          .summary = summary,
          .description = description,
          .inputs = kSoftmaxGradientInputs,
          .attributes = kSoftmaxAttributes,
          .outputs = kSoftmaxGradientOutputs,
          .support = kActivationSupport,
          .infer = InferSoftmax};
}

}  // namespace

extern constinit const Operator kSoftmax = SoftmaxForward(
    "Softmax", "Exponentials along a dimension, as shares of their sum.",
    "out = exp(self - m) / sum of exp(self - m) over dim, m the largest of self along dim. Where "
    "there is an infinity above, or only infinities below, the shares are NaN.",
    "SoftmaxBackward");

extern constinit const Operator kSoftmaxBackward =
    SoftmaxGradient("SoftmaxBackward", "Gradient of Softmax with respect to its input.",
                    "out = output * (grad_output - sum of grad_output * output over dim)");

extern constinit const Operator kLogSoftmax = SoftmaxForward(
    "LogSoftmax", "Logarithm of Softmax.",
    "out = self - m - ln(sum of exp(self - m) over dim), m the largest of self along dim",
    "LogSoftmaxBackward");

extern constinit const Operator kLogSoftmaxBackward =
    SoftmaxGradient("LogSoftmaxBackward", "Gradient of LogSoftmax with respect to its input.",
                    "out = grad_output - exp(output) * sum of grad_output over dim");

}  // namespace opserve::softmax
