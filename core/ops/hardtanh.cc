// Hardtanh and HardtanhBackward: schema.
#include "core/ops/activation_schema.h"

namespace opserve::hardtanh {
namespace {

constexpr AttributeParam kAttributes[] = {
    Scalar("clip_value_min", "least value of the result", -1),
    Scalar("clip_value_max", "largest value of the result", 1)};
constexpr AttributeParam kBackwardAttributes[] = {Scalar("min", "the forward's clip_value_min", -1),
                                                  Scalar("max", "the forward's clip_value_max", 1)};
constexpr GradientAttribute kGradientAttributes[] = {{"min", "clip_value_min"},
                                                     {"max", "clip_value_max"}};

}  // namespace

extern constinit const Operator kHardtanh =
    Activation({.name = "Hardtanh",
                .summary = "Each element held to a range.",
                .description = "out = min(max(self, clip_value_min), clip_value_max)\n"
                               "Where clip_value_min > clip_value_max the result is "
                               "clip_value_max. Both are taken as float32.",
                .attributes = kAttributes,
                .gradient = {.op = "HardtanhBackward",
                             .inputs = kTakesInput,
                             .outputs = kGivesGradOut,
                             .attributes = kGradientAttributes}});

extern constinit const Operator kHardtanhBackward = ActivationGradient(
    {.name = "HardtanhBackward",
     .summary = "Gradient of Hardtanh.",
     .description = "out = 0 where self <= min or self >= max, grad_output elsewhere\n"
                    "A NaN self lets the gradient pass, in every position of a tensor. min and max "
                    "are taken as float32.",
     .attributes = kBackwardAttributes,
     .outputs = kGradOut});

}  // namespace opserve::hardtanh
