// Sigmoid and SigmoidBackward: schema.
#include "core/ops/activation_schema.h"

namespace opserve::sigmoid {

extern constinit const Operator kSigmoid = Activation(
    {.name = "Sigmoid",
     .summary = "The logistic function of each element.",
     .description = "out = 1 / (1 + exp(-self))\n"
                    "A NaN gives NaN; -inf gives 0, +inf 1.",
     .gradient = {.op = "SigmoidBackward", .inputs = kTakesResult, .outputs = kGivesGradInput}});

extern constinit const Operator kSigmoidBackward =
    ActivationGradient({.name = "SigmoidBackward",
                        .summary = "Gradient of Sigmoid, from its result.",
                        .description = "grad_input = (grad_output * (1 - output)) * output",
                        .inputs = kOfResult});

}  // namespace opserve::sigmoid
