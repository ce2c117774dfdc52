// The tests' Swish and SwishBackward.
#include <cmath>

#include "tests/ops/activation_calls.h"

namespace opserve::testing::swish {
namespace {

const std::vector<std::vector<AttributeValue>> kBetas = {{1.0},        {1.7}, {-0.5},
                                                         {int64_t{2}}, {0.0}, {AttributeValue()}};

}  // namespace

extern const OperatorTest kSwishTest = {
    .reference =
        [](const OpCase& c) {
          const double beta = ScalarOf(c, 0);
          return MapReference(
              c, [=](const std::vector<double>& in) { return in[0] * Logistic(beta * in[0]); });
        },
    .cases = ActivationCases,
    .attributes = kBetas,
    .measured = {{"", {1.7}}},
    .ulps = 5,
};

extern const OperatorTest kSwishBackwardTest = {
    .reference =
        [](const OpCase& c) {
          const double beta = ScalarOf(c, 0);
          return SumReference(c, [=](const std::vector<double>& in) -> std::vector<double> {
            const double z = beta * in[1];
            return {in[0] * Logistic(z), in[0] * z * Logistic(z) * Logistic(-z)};
          });
        },
    .cases = ActivationCases,
    .attributes = kBetas,
    .measured = {{"", {1.7}}},
    .ulps = 5,
    .gradient = Smooth([](Rng& rng, int) { return ElementwiseProblem("Swish", {1.25}, {}, rng); }),
};

}  // namespace opserve::testing::swish
