// Prelu and PreluBackward: schema.
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/ops/activation_schema.h"

namespace opserve::prelu {
namespace {

constexpr std::string_view kWeightShape = "() or (1), or (C) where self is (N, C, ...)";
constexpr TensorParam kInputs[] = {
    {"self", "the input", "any", kFloatDTypes},
    {"weight", "factor of negative elements, one for all or one for each channel", kWeightShape,
     kFloatDTypes}};
constexpr TensorParam kBackwardInputs[] = {
    {"grad_output", "gradient of the forward's result", "self's", kFloatDTypes},
    {"self", "the forward's input", "any", kFloatDTypes},
    {"weight", "the forward's weight", kWeightShape, kFloatDTypes}};
constexpr TensorParam kBackwardOutputs[] = {
    {"grad_input", "gradient of self", "self's", kFloatDTypes},
    {"grad_weight", "gradient of weight", "weight's", kFloatDTypes}};
constexpr GradientInput kTakes[] = {{"grad_output", GradientInput::Source::kOutputGradient, "out"},
                                    {"self", GradientInput::Source::kInput, "self"},
                                    {"weight", GradientInput::Source::kInput, "weight"}};
constexpr GradientOutput kGives[] = {{"grad_input", "self"}, {"grad_weight", "weight"}};

// Inputs `self` and the one behind it, the weight.
absl::Status CheckWeight(const OpCall& call, int self) {
  const Dims& shape = call.input(self).shape;
  const TensorDesc& weight = call.input(self + 1);
  const int64_t count = weight.num_elements();
  if (weight.rank() <= 1 && (count == 1 || (shape.size() > 1 && count == shape[1])))
    return absl::OkStatus();
  std::string want = "shape [] or [1]";
  if (shape.size() > 1) absl::StrAppend(&want, ", or [", shape[1], "] of the channels of self");
  return ShapeMismatch("weight", want, ShapeToString(weight.shape));
}

absl::Status InferForward(OpCall& call) {
  OPSERVE_ASSIGN_OR_RETURN(const DType promoted, CheckElementwise(call));
  OPSERVE_RETURN_IF_ERROR(CheckWeight(call, 0));
  return SettleOutput(call, 0, promoted, call.input(0).shape);
}

absl::Status InferBackward(OpCall& call) {
  OPSERVE_ASSIGN_OR_RETURN(const DType promoted, CheckElementwise(call));
  OPSERVE_RETURN_IF_ERROR(CheckOutputSupported(call, 1, promoted));
  OPSERVE_RETURN_IF_ERROR(CheckOutputCast(call, 1, promoted));
  const Dims& shape = call.input(1).shape;
  if (!SameShape(call.input(0).shape, shape)) {
    return ShapeMismatch("grad_output", absl::StrCat("self's shape ", ShapeToString(shape)),
                         ShapeToString(call.input(0).shape));
  }
  OPSERVE_RETURN_IF_ERROR(CheckWeight(call, 1));
  OPSERVE_RETURN_IF_ERROR(SettleOutput(call, 0, promoted, shape));
  return SettleOutput(call, 1, promoted, call.input(2).shape);
}

}  // namespace

extern constinit const Operator kPrelu = {
    .name = "Prelu",
    .summary = "The rectified linear unit with a slope below 0 that is learned.",
    .description =
        "out = self where self > 0, weight * self elsewhere\n"
        "Channels are the elements of dimension 1.",
    .inputs = kInputs,
    .outputs = kActivationOutputs,
    .support = kActivationSupport,
    .gradient = {.op = "PreluBackward", .inputs = kTakes, .outputs = kGives},
    .infer = InferForward};

extern constinit const Operator kPreluBackward = {
    .name = "PreluBackward",
    .summary = "Gradients of Prelu with respect to its input and its weight.",
    .description =
        "grad_input = grad_output where self > 0, weight * grad_output elsewhere\n"
        "grad_weight = sum of grad_output * self where self is not > 0, over all elements, or over "
        "those of each channel. Without elements it is 0.",
    .inputs = kBackwardInputs,
    .outputs = kBackwardOutputs,
    .support = kActivationSupport,
    .infer = InferBackward};

}  // namespace opserve::prelu
