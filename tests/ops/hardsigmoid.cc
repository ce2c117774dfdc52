// The tests' Hardsigmoid and HardsigmoidBackward.
#include <cmath>

#include "tests/ops/activation_calls.h"

namespace opserve::testing::hardsigmoid {
extern const OperatorTest kHardsigmoidTest = {
    .reference =
        [](const OpCase& c) {
          return MapReference(c, [](const std::vector<double>& in) {
            return in[0] != in[0] ? in[0] : std::fmin(std::fmax(in[0] + 3, 0.0), 6.0) / 6;
          });
        },
    .cases = ActivationCases,
    .ulps = 2,
    .aten = "hardsigmoid(self)",
};

extern const OperatorTest kHardsigmoidBackwardTest = {
    .reference =
        [](const OpCase& c) {
          return MapReference(c, [](const std::vector<double>& in) {
            return in[1] > -3 && in[1] < 3 ? in[0] / 6 : 0.0;
          });
        },
    .cases = ActivationCases,
    .ulps = 1,
    .aten = "hardsigmoid_backward(grad_output, self)",
    .gradient =
        Straight([](Rng& rng, int) { return ElementwiseProblem("Hardsigmoid", {}, {3}, rng); }),
};

}  // namespace opserve::testing::hardsigmoid
