// Hardsigmoid and HardsigmoidBackward: schema.
#include "core/ops/activation_schema.h"

namespace opserve::hardsigmoid {

extern constinit const Operator kHardsigmoid = Activation(
    {.name = "Hardsigmoid",
     .summary = "A piecewise linear sigmoid.",
     .description = "out = min(max(self + 3, 0), 6) / 6",
     .gradient = {.op = "HardsigmoidBackward", .inputs = kTakesInput, .outputs = kGivesGradOut}});

extern constinit const Operator kHardsigmoidBackward =
    ActivationGradient({.name = "HardsigmoidBackward",
                        .summary = "Gradient of Hardsigmoid.",
                        .description = "out = grad_output / 6 where -3 < self < 3, 0 elsewhere\n"
                                       "A NaN self gives 0.",
                        .outputs = kGradOut});

}  // namespace opserve::hardsigmoid
