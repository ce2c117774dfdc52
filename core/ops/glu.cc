// Glu and GluBackward: schema.
#include "core/ops/gate_schema.h"

namespace opserve::glu {
namespace {

constexpr TensorParam kInputs[] = {{"self", "the input", kCutShape, kFloatDTypes}};
constexpr TensorParam kOutputs[] = {{"out", "the result", kHalfShape, kFloatDTypes}};
constexpr TensorParam kBackwardInputs[] = {
    {"grad_out", "gradient of the forward's result", kHalfShape, kFloatDTypes},
    {"self", "the forward's input", kCutShape, kFloatDTypes}};
constexpr TensorParam kBackwardOutputs[] = {
    {"out", "gradient of the forward's input", "self's", kFloatDTypes}};
constexpr AttributeParam kAttributes[] = {kGateDim};
constexpr GradientInput kTakes[] = {{"grad_out", GradientInput::Source::kOutputGradient, "out"},
                                    {"self", GradientInput::Source::kInput, "self"}};

}  // namespace

extern constinit const Operator kGlu = {
    .name = "Glu",
    .summary = "The gated linear unit: one half of a tensor times the sigmoid of the other.",
    .description =
        "a and b are the first and the second half of self along dim.\n"
        "out = a * sigmoid(b)",
    .inputs = kInputs,
    .attributes = kAttributes,
    .outputs = kOutputs,
    .support = kActivationSupport,
    .gradient = {.op = "GluBackward", .inputs = kTakes, .outputs = kGivesGradOut},
    .infer = InferGate};

extern constinit const Operator kGluBackward = {
    .name = "GluBackward",
    .summary = "Gradient of Glu.",
    .description =
        "a and b are the first and the second half of self along dim, s = sigmoid(b).\n"
        "The first half of out is grad_out * s, the second grad_out * a * s * (1 - s).",
    .inputs = kBackwardInputs,
    .attributes = kAttributes,
    .outputs = kBackwardOutputs,
    .support = kActivationSupport,
    .infer = InferGateGradient};

}  // namespace opserve::glu
