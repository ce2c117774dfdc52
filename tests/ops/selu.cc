// The tests' Selu and SeluBackward.
#include <cmath>

#include "tests/ops/activation_calls.h"

namespace opserve::testing::selu {
namespace {

constexpr double kAlpha = 1.6732632423543772848170429916717;
constexpr double kScale = 1.0507009873554804934193349852946;

}  // namespace

extern const OperatorTest kSeluTest = {
    .reference =
        [](const OpCase& c) {
          return MapReference(c, [](const std::vector<double>& in) {
            return kScale * (in[0] > 0 ? in[0] : kAlpha * std::expm1(in[0]));
          });
        },
    .cases = ActivationCases,
    .ulps = 5,
    .aten = "selu(self)",
};

extern const OperatorTest kSeluBackwardTest = {
    .reference =
        [](const OpCase& c) {
          return SumReference(c, [](const std::vector<double>& in) -> std::vector<double> {
            return in[1] > 0 ? std::vector{in[0] * kScale}
                             : std::vector{in[0] * in[1], in[0] * kScale * kAlpha};
          });
        },
    .cases = ActivationCases,
    .ulps = 5,
    .gradient = Smooth([](Rng& rng, int) { return ElementwiseProblem("Selu", {}, {0}, rng); }),
};

}  // namespace opserve::testing::selu
