// The tests' Sigmoid and SigmoidBackward.
#include <cmath>

#include "tests/ops/activation_calls.h"

namespace opserve::testing::sigmoid {
extern const OperatorTest kSigmoidTest = {
    .reference =
        [](const OpCase& c) {
          return MapReference(c, [](const std::vector<double>& in) { return Logistic(in[0]); });
        },
    .cases = ActivationCases,
    .ulps = 3,
    .aten = "sigmoid(self)",
};

extern const OperatorTest kSigmoidBackwardTest = {
    .reference =
        [](const OpCase& c) {
          return MapReference(
              c, [](const std::vector<double>& in) { return in[0] * (1 - in[1]) * in[1]; });
        },
    .cases = ActivationCases,
    .ulps = 3,
    .aten = "sigmoid_backward(grad_output, output)",
    .gradient = Smooth([](Rng& rng, int) { return ElementwiseProblem("Sigmoid", {}, {}, rng); }),
};

}  // namespace opserve::testing::sigmoid
