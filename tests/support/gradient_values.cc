#include "tests/support/gradient_values.h"

#include <algorithm>
#include <cmath>

#include "absl/random/distributions.h"
#include "core/op/op_table.h"
#include "tests/support/calls.h"
#include "tests/support/gradient_problem.h"

namespace opserve::testing {

std::vector<double> AwayFrom(const std::vector<double>& bends, size_t count, Rng& rng) {
  std::vector<double> values;
  while (values.size() < count) {
    const double value = static_cast<double>(absl::Gaussian<float>(rng));
    const bool near = std::any_of(bends.begin(), bends.end(), [value](double bend) {
      return std::fabs(std::fabs(value) - bend) < 0.125;
    });
    if (!near) values.push_back(value);
  }
  return values;
}

TestTensor Normal(const Dims& shape, Rng& rng) {
  return TestTensor::Random(DType::kFloat32, shape, rng);
}

TestTensor As(DType dtype, const TestTensor& tensor) {
  return TestTensor::Of(dtype, tensor.desc().shape, tensor.Values());
}

AttributeValue GradientAttributeOf(const OpCase& forward, const AttributeParam& param) {
  std::string_view name = param.name;
  for (const GradientAttribute& row : forward.op->gradient.attributes) {
    if (row.name != param.name) continue;
    if (row.origin.empty()) return row.value.ToValue();
    name = row.origin;
  }
  const int at = forward.op->FindAttribute(name);
  return at < 0 ? AttributeValue() : forward.attributes[static_cast<size_t>(at)];
}

std::vector<AttributeValue> GradientAttributesOf(const OpCase& forward) {
  std::vector<AttributeValue> values;
  for (const AttributeParam& param : (*FindOperator(forward.op->gradient.op))->attributes)
    values.push_back(GradientAttributeOf(forward, param));
  return values;
}

GradientProblem ElementwiseProblem(std::string_view forward,
                                   const std::vector<AttributeValue>& attributes,
                                   const std::vector<double>& bends, Rng& rng) {
  const std::vector<double> self = AwayFrom(bends, 40, rng);
  return ProblemOf(CallOf(forward, {Floats(self)}, attributes), rng);
}

}  // namespace opserve::testing
