// The tests' Add and Sub.
#include "tests/ops/activation_calls.h"

namespace opserve::testing::add {
namespace {

std::vector<Reference> WeightedSum(const OpCase& c, double sign) {
  const double alpha = sign * ScalarOf(c, 0);
  return SumReference(c, [alpha](const std::vector<double>& in) -> std::vector<double> {
    return {in[0], alpha * in[1]};
  });
}

const std::vector<std::vector<AttributeValue>> kFactors = {
    {1.0}, {-0.3}, {AttributeValue()}, {2.5}, {int64_t{3}}};
const std::vector<LabelledAttributes> kMeasured = {{"alpha 1", {1.0}}, {"alpha 0.3", {0.3}}};

}  // namespace

extern const OperatorTest kAddTest = {
    .reference = [](const OpCase& c) { return WeightedSum(c, 1); },
    .cases = ActivationCases,
    .attributes = kFactors,
    .measured = kMeasured,
    .ulps = 1,
    .aten = "add.Tensor(self, other, alpha=alpha)",
};

extern const OperatorTest kSubTest = {
    .reference = [](const OpCase& c) { return WeightedSum(c, -1); },
    .cases = ActivationCases,
    .attributes = kFactors,
    .measured = kMeasured,
    .ulps = 1,
    .aten = "sub.Tensor(self, other, alpha=alpha)",
};

}  // namespace opserve::testing::add
