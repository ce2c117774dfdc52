// The tests' GeGlu and GeGluBackward.
#include <cmath>

#include "tests/ops/activation_calls.h"
#include "tests/ops/gate_calls.h"

namespace opserve::testing::ge_glu {
namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kSqrtTwoOverPi = 0.79788456080286535588;

bool IsExact(const OpCase& c) {
  return c.attributes[1] == AttributeValue("none") || c.attributes[1] == AttributeValue(int64_t{0});
}

// The argument of the logistic function that the form by tanh is.
double Argument(double x) { return 2 * kSqrtTwoOverPi * (x + 0.044715 * x * x * x); }

// The function by which x is multiplied, and its derivative.
double Factor(bool exact, double x) {
  if (exact) return Decayed(0.5 * std::erfc(-x * kSqrtHalf), x < 0 ? -0.5 * x * x : 0);
  return Decayed(Logistic(Argument(x)), Argument(x));
}
double Slope(bool exact, double x) {
  if (exact) return Decayed(0.5 * kSqrtTwoOverPi * std::exp(-0.5 * x * x), -0.5 * x * x);
  const double w = Argument(x);
  return Decayed(Logistic(w) * Logistic(-w), -std::fabs(w)) *
         (2 * kSqrtTwoOverPi * (1 + 3 * 0.044715 * x * x));
}

const std::vector<std::vector<AttributeValue>> kForms = {{int64_t{-1}, int64_t{0}},
                                                         {int64_t{-1}, int64_t{1}},
                                                         {int64_t{-1}, AttributeValue()},
                                                         {int64_t{-1}, "none"}};
const std::vector<LabelledAttributes> kMeasured = {{"none", {int64_t{-1}, int64_t{0}}},
                                                   {"tanh", {int64_t{-1}, int64_t{1}}}};

}  // namespace

extern const OperatorTest kGeGluTest = {
    .reference =
        [](const OpCase& c) {
          const bool exact = IsExact(c);
          return std::vector{
              HalfReference(c,
                            [exact](const std::vector<double>& in) {
                              return std::vector{in[0], in[1] * Factor(exact, in[1])};
                            }),
              HalfReference(c, [exact](const std::vector<double>& in) {
                return std::vector{1.0, in[1] * Factor(exact, in[1])};
              })};
        },
    .cases = GateCases,
    .accuracy_cases = GateAccuracyCases,
    .long_calls = GateLongCalls,
    .attributes = kForms,
    .measured = kMeasured,
    .ulps = 7,
};

extern const OperatorTest kGeGluBackwardTest = {
    .reference =
        [](const OpCase& c) {
          const bool exact = IsExact(c);
          return std::vector{WholeReference(
              c,
              [](const std::vector<double>& in) {
                return std::vector{in[0], in[3]};
              },
              [exact](const std::vector<double>& in) {
                const double x = in[2];
                return std::vector{in[0] * in[1], Factor(exact, x), x * Slope(exact, x)};
              })};
        },
    .cases = GateCases,
    .accuracy_cases = GateAccuracyCases,
    .long_calls = GateLongCalls,
    .attributes = kForms,
    .measured = kMeasured,
    .ulps = 7,
    .gradient = SmoothGate([](Rng& rng, int turn) {
      return GateProblem("GeGlu", {AttributeValue(), int64_t{turn % 2}}, rng, turn);
    }),
};

}  // namespace opserve::testing::ge_glu
