// GeGlu and GeGluBackward: schema.
#include "core/ops/gate_schema.h"

namespace opserve::ge_glu {
namespace {

constexpr AttributeChoice kForms[] = {{0, "none", "by the normal distribution function"},
                                      {1, "tanh", "by the hyperbolic tangent"}};
constexpr AttributeParam kAttributes[] = {kGateDim,
                                          {.name = "approximate",
                                           .summary = "how gelu is computed",
                                           .kind = AttributeKind::kInt,
                                           .default_value = AttributeDefault::Int(1),
                                           .choices = kForms}};
constexpr TensorParam kInputs[] = {{"self", "the input", kCutShape, kFloatDTypes}};
constexpr TensorParam kOutputs[] = {
    {"out", "the result", kHalfShape, kFloatDTypes},
    {"out_gelu", "gelu of the second half, for GeGluBackward", kHalfShape, kFloatDTypes}};
constexpr TensorParam kBackwardInputs[] = {
    {"grad_output", "gradient of the forward's result", kHalfShape, kFloatDTypes},
    {"self", "the forward's input", kCutShape, kFloatDTypes},
    {"gelu", "out_gelu of the forward", kHalfShape, kFloatDTypes}};
constexpr TensorParam kBackwardOutputs[] = {
    {"grad_input", "gradient of the forward's input", "self's", kFloatDTypes}};
constexpr GradientInput kTakes[] = {{"grad_output", GradientInput::Source::kOutputGradient, "out"},
                                    {"self", GradientInput::Source::kInput, "self"},
                                    {"gelu", GradientInput::Source::kOutput, "out_gelu"}};

}  // namespace

extern constinit const Operator kGeGlu = {
    .name = "GeGlu",
    .summary = "One half of a tensor times the Gaussian error linear unit of the other.",
    .description =
        "a and b are the first and the second half of self along dim.\n"
        "out_gelu = gelu(b), as GeluV2 computes it with the same approximate\n"
        "out = a * gelu(b), of which out_gelu's rounding is no part",
    .inputs = kInputs,
    .attributes = kAttributes,
    .outputs = kOutputs,
    .support = kActivationSupport,
    .gradient = {.op = "GeGluBackward", .inputs = kTakes, .outputs = kGivesGradInput},
    .infer = InferGate};

extern constinit const Operator kGeGluBackward = {
    .name = "GeGluBackward",
    .summary = "Gradient of GeGlu.",
    .description =
        "a and b are the first and the second half of self along dim.\n"
        "The first half of grad_input is grad_output * gelu, gelu taken as given; the second is "
        "grad_output * a times the derivative of gelu at b.",
    .inputs = kBackwardInputs,
    .attributes = kAttributes,
    .outputs = kBackwardOutputs,
    .support = kActivationSupport,
    .infer = InferGateGradient};

}  // namespace opserve::ge_glu
