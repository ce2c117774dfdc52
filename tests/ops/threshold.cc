// The tests' Threshold, Relu and ThresholdBackward.
#include <cmath>

#include "tests/ops/activation_calls.h"

namespace opserve::testing::threshold {
extern const OperatorTest kThresholdTest = {
    .reference =
        [](const OpCase& c) {
          const double threshold = ScalarOf(c, 0);
          const double value = ScalarOf(c, 1);
          return MapReference(
              c, [=](const std::vector<double>& in) { return in[0] <= threshold ? value : in[0]; });
        },
    .cases = ActivationCases,
    .attributes = {{0.25, -7.5}, {int64_t{0}, 0.1}},
    .measured = {{"", {0.25, -7.5}}},
    .ulps = 0.5,
    .aten = "threshold(self, threshold, value)",
};

extern const OperatorTest kReluTest = {
    .reference =
        [](const OpCase& c) {
          return MapReference(c,
                              [](const std::vector<double>& in) { return in[0] <= 0 ? 0 : in[0]; });
        },
    .cases = ActivationCases,
    .ulps = 0.5,
    .aten = "relu(self)",
};

extern const OperatorTest kThresholdBackwardTest = {
    .reference =
        [](const OpCase& c) {
          const double threshold = ScalarOf(c, 0);
          return MapReference(
              c, [=](const std::vector<double>& in) { return in[1] <= threshold ? 0 : in[0]; });
        },
    .cases = ActivationCases,
    .attributes = {{0.25}, {int64_t{0}}},
    .measured = {{"", {0.25}}},
    .ulps = 0.5,
    .aten = "threshold_backward(grad_output, self, threshold)",
    .gradient = Straight([](Rng& rng, int turn) {
      return turn % 2 == 0 ? ElementwiseProblem("Threshold", {0.25, -7.5}, {0.25}, rng)
                           : ElementwiseProblem("Relu", {}, {0}, rng);
    }),
};

}  // namespace opserve::testing::threshold
