#include "tests/support/gradient_values.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "core/op/op_table.h"
#include "tests/support/calls.h"

namespace opserve::testing {

std::vector<double> AwayFrom(const std::vector<double>& bends, size_t count, Rng& rng) {
  std::normal_distribution<double> normal;
  std::vector<double> values;
  while (values.size() < count) {
    const double value = static_cast<double>(static_cast<float>(normal(rng)));
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

GradientProblem ElementwiseProblem(std::string_view forward,
                                   const std::vector<AttributeValue>& attributes,
                                   const std::vector<double>& bends, Rng& rng) {
  const std::vector<double> self = AwayFrom(bends, 40, rng);
  const TestTensor grad = Normal({40}, rng);
  GradientProblem problem;
  problem.variables = {self};
  problem.weights = grad.Values();
  problem.forward = [=](size_t, const std::vector<double>& values, DType dtype) {
    return CallOf(forward, {TestTensor::Of(dtype, {40}, values)}, attributes);
  };
  const Gradient& gradient = (*FindOperator(forward))->gradient;
  const auto output = [&] {
    return Floats(ReferenceOf(problem.forward(0, self, DType::kFloat64))[0].values);
  };
  std::vector<std::optional<TestTensor>> inputs;
  for (const GradientInput& input : gradient.inputs) {
    using Source = GradientInput::Source;
    inputs.emplace_back(input.source == Source::kOutputGradient ? grad
                        : input.source == Source::kInput        ? Floats(self)
                                                                : output());
  }
  problem.backward = CallOf(gradient.op, std::move(inputs), attributes);
  return problem;
}

}  // namespace opserve::testing
