// Tanh and TanhBackward: schema.
#include "core/ops/activation_schema.h"

namespace opserve::tanh {

extern constinit const Operator kTanh = Activation(
    {.name = "Tanh",
     .summary = "The hyperbolic tangent of each element.",
     .description = "out = tanh(self)",
     .gradient = {.op = "TanhBackward", .inputs = kTakesResult, .outputs = kGivesGradInput}});

extern constinit const Operator kTanhBackward =
    ActivationGradient({.name = "TanhBackward",
                        .summary = "Gradient of Tanh, from its result.",
                        .description = "grad_input = grad_output * (1 - output * output)",
                        .inputs = kOfResult});

}  // namespace opserve::tanh
