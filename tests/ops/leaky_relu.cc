// The tests' LeakyRelu and LeakyReluBackward.
#include <cmath>

#include "tests/ops/activation_calls.h"

namespace opserve::testing::leaky_relu {
namespace {

const std::vector<std::vector<AttributeValue>> kSlopes = {
    {0.1}, {-0.5}, {int64_t{2}}, {AttributeValue()}};
const std::vector<std::vector<AttributeValue>> kBackwardSlopes = {
    {0.1, false}, {-0.5, false}, {0.1, true}};

}  // namespace

extern const OperatorTest kLeakyReluTest = {
    .reference =
        [](const OpCase& c) {
          const double slope = ScalarOf(c, 0);
          return MapReference(
              c, [=](const std::vector<double>& in) { return in[0] > 0 ? in[0] : slope * in[0]; });
        },
    .cases = ActivationCases,
    .attributes = kSlopes,
    .measured = {{"", {0.1}}},
    .ulps = 0.5,
    .aten = "leaky_relu(self, negative_slope)",
};

extern const OperatorTest kLeakyReluBackwardTest = {
    .reference =
        [](const OpCase& c) {
          const double slope = ScalarOf(c, 0);
          return MapReference(
              c, [=](const std::vector<double>& in) { return in[1] > 0 ? in[0] : slope * in[0]; });
        },
    .cases = ActivationCases,
    .attributes = kBackwardSlopes,
    .measured = {{"", {0.1, false}}},
    .ulps = 0.5,
    .aten = "leaky_relu_backward(grad_output, self, negative_slope, self_is_result)",
    .gradient =
        Straight([](Rng& rng, int) { return ElementwiseProblem("LeakyRelu", {0.125}, {0}, rng); }),
};

}  // namespace opserve::testing::leaky_relu
