// The tests' Tanh and TanhBackward.
#include <cmath>

#include "tests/ops/activation_calls.h"

namespace opserve::testing::tanh {
extern const OperatorTest kTanhTest = {
    .reference =
        [](const OpCase& c) {
          return MapReference(c, [](const std::vector<double>& in) { return std::tanh(in[0]); });
        },
    .cases = ActivationCases,
    .ulps = 4,
    .aten = "tanh(self)",
};

extern const OperatorTest kTanhBackwardTest = {
    .reference =
        [](const OpCase& c) {
          return MapReference(
              c, [](const std::vector<double>& in) { return in[0] * (1 - in[1] * in[1]); });
        },
    .cases = ActivationCases,
    .ulps = 4,
    .aten = "tanh_backward(grad_output, output)",
    .gradient = Smooth([](Rng& rng, int) { return ElementwiseProblem("Tanh", {}, {}, rng); }),
};

}  // namespace opserve::testing::tanh
