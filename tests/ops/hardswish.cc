// The tests' Hardswish and HardswishBackward.
#include <cmath>

#include "tests/ops/activation_calls.h"

namespace opserve::testing::hardswish {
extern const OperatorTest kHardswishTest = {
    .reference =
        [](const OpCase& c) {
          return MapReference(c, [](const std::vector<double>& in) {
            return in[0] * std::fmin(std::fmax(in[0] + 3, 0.0), 6.0) / 6;
          });
        },
    .cases = ActivationCases,
    .ulps = 3,
    .aten = "hardswish(self)",
};

extern const OperatorTest kHardswishBackwardTest = {
    .reference =
        [](const OpCase& c) {
          return SumReference(c, [](const std::vector<double>& in) -> std::vector<double> {
            if (in[1] <= -3) return {0};
            if (in[1] >= 3) return {in[0]};
            return {in[0] * in[1] / 3, in[0] / 2};
          });
        },
    .cases = ActivationCases,
    .ulps = 3,
    .aten = "hardswish_backward(grad_output, self)",
    .gradient =
        Straight([](Rng& rng, int) { return ElementwiseProblem("Hardswish", {}, {3}, rng); }),
};

}  // namespace opserve::testing::hardswish
