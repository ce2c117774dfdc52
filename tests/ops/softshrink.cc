// The tests' Softshrink and SoftshrinkBackward.
#include <cmath>

#include "tests/ops/activation_calls.h"

namespace opserve::testing::softshrink {
namespace {

const std::vector<std::vector<AttributeValue>> kLambdas = {
    {0.5}, {0.0}, {int64_t{1}}, {AttributeValue()}};

}  // namespace

extern const OperatorTest kSoftshrinkTest = {
    .reference =
        [](const OpCase& c) {
          const double lambd = ScalarOf(c, 0);
          return MapReference(c, [=](const std::vector<double>& in) {
            return std::fabs(in[0]) <= lambd ? 0 : in[0] - std::copysign(lambd, in[0]);
          });
        },
    .cases = ActivationCases,
    .attributes = kLambdas,
    .measured = {{"", {0.5}}},
    .ulps = 0.5,
    .aten = "softshrink(self, lambd)",
};

extern const OperatorTest kSoftshrinkBackwardTest = {
    .reference =
        [](const OpCase& c) {
          const double lambd = ScalarOf(c, 0);
          return MapReference(c, [=](const std::vector<double>& in) {
            return std::fabs(in[1]) <= lambd ? 0 : in[0];
          });
        },
    .cases = ActivationCases,
    .attributes = kLambdas,
    .measured = {{"", {0.5}}},
    .ulps = 0.5,
    .aten = "softshrink_backward(grad_output, self, lambd)",
    .gradient =
        Straight([](Rng& rng, int) { return ElementwiseProblem("Softshrink", {0.5}, {0.5}, rng); }),
};

}  // namespace opserve::testing::softshrink
