// Mish and MishBackward: schema.
#include "core/ops/activation_schema.h"

namespace opserve::mish {

extern constinit const Operator kMish = Activation(
    {.name = "Mish",
     .summary = "Each element times the hyperbolic tangent of its softplus.",
     .description = "out = self * tanh(log(1 + exp(self)))\n"
                    "-inf gives NaN.",
     .gradient = {.op = "MishBackward", .inputs = kTakesInput, .outputs = kGivesGradInput}});

extern constinit const Operator kMishBackward = ActivationGradient(
    {.name = "MishBackward",
     .summary = "Gradient of Mish.",
     .description = "t = tanh(log(1 + exp(self)))\n"
                    "grad_input = grad_output * (t + self * sigmoid(self) * (1 - t * t))\n"
                    "An infinite self gives NaN."});

}  // namespace opserve::mish
