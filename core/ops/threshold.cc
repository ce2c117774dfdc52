// Threshold, Relu and ThresholdBackward: schema.
#include "core/ops/activation_schema.h"

namespace opserve::threshold {
namespace {

constexpr AttributeParam kThreshold = {.name = "threshold",
                                       .summary = "what an element must exceed to pass",
                                       .kind = AttributeKind::kScalar};
constexpr AttributeParam kAttributes[] = {kThreshold,
                                          {.name = "value",
                                           .summary = "result of an element that does not",
                                           .kind = AttributeKind::kScalar}};
constexpr AttributeParam kBackwardAttributes[] = {kThreshold};
constexpr GradientAttribute kOfRelu[] = {{"threshold", "", AttributeDefault::Float(0)}};

}  // namespace

extern constinit const Operator kThreshold = Activation(
    {.name = "Threshold",
     .summary = "Elements above a threshold; a value in place of the others.",
     .description = "out = value where self <= threshold, self elsewhere\n"
                    "A NaN passes. threshold and value are taken as float32.",
     .attributes = kAttributes,
     .gradient = {.op = "ThresholdBackward", .inputs = kTakesInput, .outputs = kGivesGradOut}});

extern constinit const Operator kRelu =
    Activation({.name = "Relu",
                .summary = "The rectified linear unit.",
                .description = "out = 0 where self <= 0, self elsewhere\n"
                               "A NaN passes.",
                .gradient = {.op = "ThresholdBackward",
                             .inputs = kTakesInput,
                             .outputs = kGivesGradOut,
                             .attributes = kOfRelu}});

extern constinit const Operator kThresholdBackward =
    ActivationGradient({.name = "ThresholdBackward",
                        .summary = "Gradient of Threshold and, with threshold 0, of Relu.",
                        .description = "out = 0 where self <= threshold, grad_output elsewhere\n"
                                       "A NaN self lets the gradient pass. threshold is taken as "
                                       "float32. For Relu self may also be the result.",
                        .attributes = kBackwardAttributes,
                        .outputs = kGradOut});

}  // namespace opserve::threshold
