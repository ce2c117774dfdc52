// The tests' Softplus and SoftplusBackward.
#include <cmath>

#include "tests/ops/activation_calls.h"

namespace opserve::testing::softplus {
namespace {

const std::vector<std::vector<AttributeValue>> kScalars = {{1.5, 3.0},
                                                           {1.0, 20.0},
                                                           {-0.5, 2.0},
                                                           {int64_t{2}, int64_t{1000}},
                                                           {AttributeValue(), AttributeValue()}};

}  // namespace

extern const OperatorTest kSoftplusTest = {
    .reference =
        [](const OpCase& c) {
          const double beta = ScalarOf(c, 0);
          const double threshold = ScalarOf(c, 1);
          return MapReference(c, [=](const std::vector<double>& in) {
            const double z = beta * in[0];
            if (z > threshold) return in[0];
            return ((z > 0 ? z : 0) + std::log1p(std::exp(-std::fabs(z)))) / beta;
          });
        },
    .cases = ActivationCases,
    .attributes = kScalars,
    .measured = {{"", {1.5, 3.0}}},
    .ulps = 5,
    .aten = "softplus(self, beta, threshold)",
};

extern const OperatorTest kSoftplusBackwardTest = {
    .reference =
        [](const OpCase& c) {
          const double beta = ScalarOf(c, 0);
          const double threshold = ScalarOf(c, 1);
          return MapReference(c, [=](const std::vector<double>& in) {
            return beta * in[1] > threshold ? in[0] : in[0] * Logistic(beta * in[1]);
          });
        },
    .cases = ActivationCases,
    .attributes = kScalars,
    .measured = {{"", {1.5, 3.0}}},
    .ulps = 5,
    .aten = "softplus_backward(grad_output, self, beta, threshold)",
    .gradient = Smooth([](Rng& rng, int) {
      return ElementwiseProblem("Softplus", {1.25, 20.0}, {}, rng);
    }),
};

}  // namespace opserve::testing::softplus
