// Selu and SeluBackward: schema.
#include "core/ops/activation_schema.h"

namespace opserve::selu {
namespace {

constexpr TensorParam kBackwardInputs[] = {
    kResultGradient, {"result", "the forward's result", kBroadcastOfTwo, kFloatDTypes}};
constexpr GradientInput kTakes[] = {{"grad_output", GradientInput::Source::kOutputGradient, "out"},
                                    {"result", GradientInput::Source::kOutput, "out"}};

}  // namespace

extern constinit const Operator kSelu = Activation(
    {.name = "Selu",
     .summary = "The scaled exponential linear unit.",
     .description = "out = scale * self where self > 0, scale * alpha * (exp(self) - 1) elsewhere\n"
                    "alpha = 1.6732632423543773, scale = 1.0507009873554805 (Klambauer et al., "
                    "Self-Normalizing Neural Networks, 2017).",
     .gradient = {.op = "SeluBackward", .inputs = kTakes, .outputs = kGivesGradInput}});

extern constinit const Operator kSeluBackward =
    ActivationGradient({.name = "SeluBackward",
                        .summary = "Gradient of Selu, from its result.",
                        .description = "grad_input = grad_output * scale where result > 0, "
                                       "grad_output * (result + scale * alpha) elsewhere\n"
                                       "alpha and scale are those of Selu.",
                        .inputs = kBackwardInputs});

}  // namespace opserve::selu
