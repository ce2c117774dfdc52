// The tests' Hardshrink and HardshrinkBackward.
#include <cmath>

#include "gtest/gtest.h"
#include "tests/support/gradient_values.h"
#include "tests/support/operator_test.h"

namespace opserve::testing::hardshrink {
namespace {

// Hardshrink(self) passes self; its backward passes the gradient of (grad, self).
std::vector<Reference> PassedOutside(const OpCase& op_case) {
  const Broadcast in = BroadcastInputsOf(op_case);
  AttributeValue lambd = op_case.attributes[0];
  EXPECT_TRUE(ConvertAttribute(AttributeKind::kScalar, lambd));
  const double rounded = RoundTo(in.promoted, std::get<double>(lambd));
  const double threshold = rounded < 0 ? 0 : rounded;
  const std::vector<double>& self = in.inputs.back();
  std::vector<double> values;
  for (size_t i = 0; i < self.size(); ++i) {
    values.push_back(std::fabs(self[i]) <= threshold ? 0 : in.inputs.front()[i]);
  }
  return ExactReference(values);
}

const std::vector<std::vector<AttributeValue>> kLambdas = {{0.5},          {0.0},        {-1.0},
                                                           {std::nan("")}, {int64_t{1}}, {true}};

}  // namespace

extern const OperatorTest kHardshrinkTest = {
    .reference = PassedOutside,
    .attributes = kLambdas,
    .measured = {{"", {0.5}}},
    .ulps = 0.5,
    .aten = "hardshrink(self, lambd)",
};

extern const OperatorTest kHardshrinkBackwardTest = {
    .reference = PassedOutside,
    .attributes = kLambdas,
    .measured = {{"", {0.5}}},
    .ulps = 0.5,
    .aten = "hardshrink_backward(grad_output, self, lambd)",
    // Straight between its bends: differences are exact but for rounding.
    .gradient = {.problem =
                     [](Rng& rng, int turn) {
                       const double lambd = 0.25 * (turn % 4);
                       return ElementwiseProblem("Hardshrink", {lambd}, {lambd}, rng);
                     }},
};

}  // namespace opserve::testing::hardshrink
