// Silu and SiluBackward: schema.
#include "core/ops/activation_schema.h"

namespace opserve::silu {

extern constinit const Operator kSilu = Activation(
    {.name = "Silu",
     .summary = "The sigmoid linear unit: each element times its sigmoid.",
     .description = "out = self * sigmoid(self)\n"
                    "-inf gives NaN.",
     .gradient = {.op = "SiluBackward", .inputs = kTakesInput, .outputs = kGivesGradInput}});

extern constinit const Operator kSiluBackward =
    ActivationGradient({.name = "SiluBackward",
                        .summary = "Gradient of Silu.",
                        .description = "s = sigmoid(self)\n"
                                       "grad_input = grad_output * (s + self * s * (1 - s))\n"
                                       "An infinite self gives NaN."});

}  // namespace opserve::silu
