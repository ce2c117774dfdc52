// SwiGlu and SwiGluGrad: schema.
#include "core/ops/gate_schema.h"

namespace opserve::swi_glu {
namespace {

constexpr TensorParam kInputs[] = {{"x", "the input", kCutShape, kFloatDTypes}};
constexpr TensorParam kOutputs[] = {{"out", "the result", kHalfShape, kFloatDTypes}};
constexpr TensorParam kBackwardInputs[] = {
    {"y_grad", "gradient of the forward's result", kHalfShape, kFloatDTypes},
    {"x", "the forward's input", kCutShape, kFloatDTypes}};
constexpr TensorParam kBackwardOutputs[] = {
    {"out", "gradient of the forward's input", "x's", kFloatDTypes}};
constexpr AttributeParam kAttributes[] = {kGateDim};
constexpr GradientInput kTakes[] = {{"y_grad", GradientInput::Source::kOutputGradient, "out"},
                                    {"x", GradientInput::Source::kInput, "x"}};
constexpr GradientOutput kGives[] = {{"out", "x"}};

}  // namespace

extern constinit const Operator kSwiGlu = {
    .name = "SwiGlu",
    .summary = "The sigmoid linear unit of one half of a tensor times the other half.",
    .description =
        "a and b are the first and the second half of x along dim.\n"
        "out = a * sigmoid(a) * b",
    .inputs = kInputs,
    .attributes = kAttributes,
    .outputs = kOutputs,
    .support = kActivationSupport,
    .gradient = {.op = "SwiGluGrad", .inputs = kTakes, .outputs = kGives},
    .infer = InferGate};

extern constinit const Operator kSwiGluGrad = {
    .name = "SwiGluGrad",
    .summary = "Gradient of SwiGlu.",
    .description =
        "a and b are the first and the second half of x along dim, s = sigmoid(a).\n"
        "The first half of out is y_grad * b * (s + a * s * (1 - s)), the second y_grad * a * s.",
    .inputs = kBackwardInputs,
    .attributes = kAttributes,
    .outputs = kBackwardOutputs,
    .support = kActivationSupport,
    .infer = InferGateGradient};

}  // namespace opserve::swi_glu
