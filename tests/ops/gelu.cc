// The tests' Gelu, GeluBackward, GeluV2 and GeluBackwardV2.
#include <cmath>

#include "tests/ops/activation_calls.h"

namespace opserve::testing::gelu {
namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kSqrtTwoOverPi = 0.79788456080286535588;

double Phi(double x) { return 0.5 * std::erfc(-x * kSqrtHalf); }
double Density(double x) { return 0.5 * kSqrtTwoOverPi * std::exp(-0.5 * x * x); }

// The argument of the logistic function that the form by tanh is, and its derivative.
double Argument(double x) { return 2 * kSqrtTwoOverPi * (x + 0.044715 * x * x * x); }
double Slope(double x) { return 2 * kSqrtTwoOverPi * (1 + 3 * 0.044715 * x * x); }

bool IsExact(const OpCase& c) {
  return c.attributes.empty() || !IsGiven(c.attributes[0]) ||
         c.attributes[0] == AttributeValue("none") || c.attributes[0] == AttributeValue(int64_t{0});
}

std::vector<Reference> Gelu(const OpCase& c) {
  const bool exact = IsExact(c);
  return MapReference(c, [exact](const std::vector<double>& in) {
    return in[0] * (exact ? Phi(in[0]) : Logistic(Argument(in[0])));
  });
}

std::vector<Reference> GeluBackward(const OpCase& c) {
  const bool exact = IsExact(c);
  return SumReference(c, [exact](const std::vector<double>& in) -> std::vector<double> {
    const double x = in[1];
    if (exact) return {in[0] * Phi(x), in[0] * (x * Density(x))};
    const double s = Logistic(Argument(x));
    return {in[0] * s, in[0] * (x * (s * Logistic(-Argument(x)) * Slope(x)))};
  });
}

const std::vector<std::vector<AttributeValue>> kForms = {
    {"none"}, {"tanh"}, {int64_t{1}}, {AttributeValue()}};
const std::vector<LabelledAttributes> kMeasured = {{"none", {int64_t{0}}}, {"tanh", {int64_t{1}}}};

}  // namespace

extern const OperatorTest kGeluTest = {
    .reference = Gelu,
    .cases = ActivationCases,
    .ulps = 6,
    .aten = "gelu(self)",
};

extern const OperatorTest kGeluBackwardTest = {
    .reference = GeluBackward,
    .cases = ActivationCases,
    .ulps = 6,
    .aten = "gelu_backward(grad_output, self)",
    .gradient = Smooth([](Rng& rng, int) { return ElementwiseProblem("Gelu", {}, {}, rng); }),
};

extern const OperatorTest kGeluV2Test = {
    .reference = Gelu,
    .cases = ActivationCases,
    .attributes = kForms,
    .measured = kMeasured,
    .ulps = 6,
    .aten = "gelu(self, approximate=approximate)",
};

extern const OperatorTest kGeluBackwardV2Test = {
    .reference = GeluBackward,
    .cases = ActivationCases,
    .attributes = kForms,
    .measured = kMeasured,
    .ulps = 6,
    .aten = "gelu_backward(grad_output, self, approximate=approximate)",
    .gradient = Smooth([](Rng& rng, int turn) {
      return ElementwiseProblem("GeluV2", {int64_t{turn % 2}}, {}, rng);
    }),
};

}  // namespace opserve::testing::gelu
