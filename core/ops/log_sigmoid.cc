// LogSigmoid, LogSigmoidForward and LogSigmoidBackward: schema.
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/ops/activation_schema.h"
#include "core/tensor/shape.h"

namespace opserve::log_sigmoid {
namespace {

constexpr TensorParam kForwardOutputs[] = {
    kActivationOutputs[0],
    {"buffer", "exp(-|self|), for LogSigmoidBackward", "self's", kFloatDTypes}};
constexpr TensorParam kBackwardInputs[] = {kResultGradient,
                                           kForwardInput,
                                           {"buffer", "what LogSigmoidForward kept; not read",
                                            "self's, or empty", kFloatDTypes, Presence::kOptional}};
constexpr GradientInput kTakesBuffer[] = {
    {"grad_output", GradientInput::Source::kOutputGradient, "out"},
    {"self", GradientInput::Source::kInput, "self"},
    {"buffer", GradientInput::Source::kOutput, "buffer"}};

absl::Status InferForward(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(InferElementwise(call));
  const DType dtype = call.input(0).dtype;
  OPSERVE_RETURN_IF_ERROR(CheckOutputCast(call, 1, dtype));
  OPSERVE_RETURN_IF_ERROR(CheckOutputSupported(call, 1, dtype));
  return SettleOutput(call, 1, dtype, call.input(0).shape);
}

absl::Status InferBackward(OpCall& call) {
  // Only the others are broadcast.
  std::optional<TensorDesc> buffer = std::exchange(call.inputs[2], std::nullopt);
  const absl::Status others = InferElementwise(call);
  call.inputs[2] = std::move(buffer);
  OPSERVE_RETURN_IF_ERROR(others);
  if (!call.has_input(2)) return absl::OkStatus();
  OPSERVE_RETURN_IF_ERROR(CheckInputSupported(call, 2));
  const Dims& shape = call.input(2).shape;
  if (call.input(2).num_elements() == 0 || shape == call.input(1).shape) return absl::OkStatus();
  return InvalidParameter(
      "buffer",
      absl::StrCat("the shape of self, ", ShapeToString(call.input(1).shape), ", or no elements"),
      ShapeToString(shape));
}

}  // namespace

extern constinit const Operator kLogSigmoid = Activation(
    {.name = "LogSigmoid",
     .summary = "The logarithm of the sigmoid of each element.",
     .description = "out = log(sigmoid(self))",
     .gradient = {.op = "LogSigmoidBackward", .inputs = kTakesInput, .outputs = kGivesGradInput}});

extern constinit const Operator kLogSigmoidForward = {
    .name = "LogSigmoidForward",
    .summary = "LogSigmoid, with what its gradient may reuse.",
    .description =
        "out = log(sigmoid(self))\n"
        "buffer = exp(-|self|)",
    .inputs = kActivationInputs,
    .outputs = kForwardOutputs,
    .support = kActivationSupport,
    .gradient = {.op = "LogSigmoidBackward", .inputs = kTakesBuffer, .outputs = kGivesGradInput},
    .infer = InferForward};

extern constinit const Operator kLogSigmoidBackward = ActivationGradient(
    {.name = "LogSigmoidBackward",
     .summary = "Gradient of LogSigmoid.",
     .description = "grad_input = grad_output * sigmoid(-self)\n"
                    "buffer is not read: self says all. It may be left out, or have no elements.",
     .inputs = kBackwardInputs,
     .infer = InferBackward,
     .runs_in_pieces = nullptr});

}  // namespace opserve::log_sigmoid
