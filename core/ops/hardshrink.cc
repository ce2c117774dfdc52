// Hardshrink and HardshrinkBackward: schema and inference.
#include <algorithm>

#include "core/base/status_macros.h"
#include "core/op/infer_checks.h"
#include "core/op/op_call.h"

namespace opserve::hardshrink {
namespace {

constexpr std::string_view kBroadcastShape = "any that broadcasts with the other input";

constexpr AttributeParam kAttributes[] = {
    {"lambd", "half the width of the dead zone; below 0 it counts as 0", AttributeKind::kScalar}};

constexpr TensorParam kForwardInputs[] = {{"self", "the input", "any", kFloatDTypes}};
constexpr TensorParam kForwardOutputs[] = {
    {"out", "self with its dead zone at 0", "self's", kFloatDTypes}};

constexpr TensorParam kBackwardInputs[] = {
    {"grad_output", "gradient of Hardshrink's result", kBroadcastShape, kFloatDTypes},
    {"self", "the input of Hardshrink", kBroadcastShape, kFloatDTypes}};
constexpr TensorParam kBackwardOutputs[] = {
    {"grad_input", "gradient of self", "the broadcast of both inputs", kFloatDTypes}};

constexpr GradientInput kGradientInputs[] = {
    {"grad_output", GradientInput::Source::kOutputGradient, "out"},
    {"self", GradientInput::Source::kInput, "self"}};
constexpr GradientOutput kGradientOutputs[] = {{"grad_input", "self"}};

constexpr ProfileSupport kSupport = {kFloatDTypes, kFloatDTypes, kFloatDTypes,
                                     DTypeSet{DType::kFloat16, DType::kFloat32}, DTypeSet{}};

absl::Status InferBackward(OpCall& call) {
  OPSERVE_ASSIGN_OR_RETURN(const DType promoted, CheckElementwise(call));
  const bool empty = std::any_of(call.inputs.begin(), call.inputs.end(),
                                 [](const auto& input) { return input->num_elements() == 0; });
  if (empty && call.output(0).origin == OutputSlot::Origin::kGiven) {
    // Before the shapes are compared: the call succeeds and writes nothing.
    MaskOutput(call, 0, promoted);
    return absl::OkStatus();
  }
  OPSERVE_ASSIGN_OR_RETURN(const Dims shape, BroadcastInputs(call));
  return SettleOutput(call, 0, promoted, shape);
}

// But for a gradient that is masked out.
bool RunsInPieces(const OpCall& call) { return call.output(0).wanted; }

}  // namespace

extern constinit const Operator kHardshrink = {
    .name = "Hardshrink",
    .summary = "The input, with values near zero set to zero.",
    .description =
        "out = 0 where |self| <= lambd, self elsewhere\n"
        "lambd < 0 counts as 0 and is rounded to self's dtype first. A NaN self or lambd lets self "
        "pass.",
    .inputs = kForwardInputs,
    .attributes = kAttributes,
    .outputs = kForwardOutputs,
    .support = kSupport,
    .gradient = {.op = "HardshrinkBackward",
                 .inputs = kGradientInputs,
                 .outputs = kGradientOutputs},
    .infer = InferElementwise,
    .runs_in_pieces = RunsInPieces,
};

extern constinit const Operator kHardshrinkBackward = {
    .name = "HardshrinkBackward",
    .summary = "Gradient of Hardshrink.",
    .description =
        "grad_input = 0 where |self| <= lambd, grad_output elsewhere\n"
        "lambd is rounded to the promoted dtype of the inputs first. A NaN self or lambd lets the "
        "gradient pass; an infinite "
        "gradient in the dead zone gives 0.\n"
        "Unlike PyTorch, lambd < 0 counts as 0, and NaN is treated alike in every position of a "
        "tensor.",
    .inputs = kBackwardInputs,
    .attributes = kAttributes,
    .outputs = kBackwardOutputs,
    .support = kSupport,
    .infer = InferBackward,
    .runs_in_pieces = RunsInPieces,
};

}  // namespace opserve::hardshrink
