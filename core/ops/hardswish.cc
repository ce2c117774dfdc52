// Hardswish and HardswishBackward: schema.
#include "core/ops/activation_schema.h"

namespace opserve::hardswish {

extern constinit const Operator kHardswish = Activation(
    {.name = "Hardswish",
     .summary = "Each element times a piecewise linear sigmoid.",
     .description = "out = self * min(max(self + 3, 0), 6) / 6\n"
                    "-inf gives NaN.",
     .gradient = {.op = "HardswishBackward", .inputs = kTakesInput, .outputs = kGivesGradOut}});

extern constinit const Operator kHardswishBackward =
    ActivationGradient({.name = "HardswishBackward",
                        .summary = "Gradient of Hardswish.",
                        .description = "out = 0 where self <= -3, grad_output where self >= 3, "
                                       "grad_output * (self / 3 + 1/2) between\n"
                                       "A NaN self gives NaN in every position of a tensor.",
                        .outputs = kGradOut});

}  // namespace opserve::hardswish
