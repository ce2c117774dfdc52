// The tests' Mish and MishBackward.
#include <cmath>

#include "tests/ops/activation_calls.h"

namespace opserve::testing::mish {
namespace {

double Softplus(double x) { return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

// 1 - tanh^2 of the softplus.
double Sech2OfSoftplus(double x) {
  const double cosh = std::cosh(Softplus(x));
  return 1 / cosh / cosh;
}

}  // namespace

extern const OperatorTest kMishTest = {
    .reference =
        [](const OpCase& c) {
          return MapReference(
              c, [](const std::vector<double>& in) { return in[0] * std::tanh(Softplus(in[0])); });
        },
    .cases = ActivationCases,
    .ulps = 5,
    .aten = "mish(self)",
};

extern const OperatorTest kMishBackwardTest = {
    .reference =
        [](const OpCase& c) {
          return SumReference(c, [](const std::vector<double>& in) -> std::vector<double> {
            return {in[0] * std::tanh(Softplus(in[1])),
                    in[0] * in[1] * Logistic(in[1]) * Sech2OfSoftplus(in[1])};
          });
        },
    .cases = ActivationCases,
    .ulps = 5,
    .aten = "mish_backward(grad_output, self)",
    .gradient = Smooth([](Rng& rng, int) { return ElementwiseProblem("Mish", {}, {}, rng); }),
};

}  // namespace opserve::testing::mish
