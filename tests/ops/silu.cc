// The tests' Silu and SiluBackward.
#include <cmath>

#include "tests/ops/activation_calls.h"

namespace opserve::testing::silu {
extern const OperatorTest kSiluTest = {
    .reference =
        [](const OpCase& c) {
          return MapReference(
              c, [](const std::vector<double>& in) { return in[0] * Logistic(in[0]); });
        },
    .cases = ActivationCases,
    .ulps = 5,
    .aten = "silu(self)",
};

extern const OperatorTest kSiluBackwardTest = {
    .reference =
        [](const OpCase& c) {
          return SumReference(c, [](const std::vector<double>& in) -> std::vector<double> {
            return {in[0] * Logistic(in[1]), in[0] * in[1] * Logistic(in[1]) * Logistic(-in[1])};
          });
        },
    .cases = ActivationCases,
    .ulps = 5,
    .aten = "silu_backward(grad_output, self)",
    .gradient = Smooth([](Rng& rng, int) { return ElementwiseProblem("Silu", {}, {}, rng); }),
};

}  // namespace opserve::testing::silu
