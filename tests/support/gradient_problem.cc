#include "tests/support/gradient_problem.h"

#include "core/op/op_table.h"
#include "gmock/gmock.h"
#include "tests/support/calls.h"
#include "tests/support/gradient_values.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

// `forward` with other values of one input, all floating inputs of `dtype`.
OpCase Moved(const OpCase& forward, size_t input, const std::vector<double>& values, DType dtype) {
  OpCase moved = forward;
  for (std::optional<TestTensor>& each : moved.inputs) {
    if (each.has_value() && IsFloating(each->desc().dtype)) each = As(dtype, *each);
  }
  TestTensor& variable = *moved.inputs[input];
  variable = TestTensor::Of(dtype, variable.desc().shape, values);
  return moved;
}

// The inputs of the gradient's operator; of the forward's outputs, of which `plan` has the shapes,
// the exact values.
std::vector<std::optional<TestTensor>> GradientInputsOf(const OpCase& forward, const OpCase& exact,
                                                        const OpCall& plan,
                                                        const TestTensor& grad) {
  using Source = GradientInput::Source;
  const Gradient& gradient = forward.op->gradient;
  const Operator& backward = **FindOperator(gradient.op);
  const std::vector<Reference> results = ReferenceOf(exact);
  // Optional ones that the gradient does not take are left out.
  std::vector<std::optional<TestTensor>> inputs(backward.inputs.size());
  for (const GradientInput& input : gradient.inputs) {
    std::optional<TestTensor>& taken = inputs[static_cast<size_t>(backward.FindInput(input.name))];
    if (input.source == Source::kOutputGradient) {
      taken = grad;
    } else if (input.source == Source::kInput) {
      taken = forward.inputs[static_cast<size_t>(forward.op->FindInput(input.origin))];
    } else {
      const int output = forward.op->FindOutput(input.origin);
      taken = TestTensor::Of(DType::kFloat32, plan.output(output).desc.shape,
                             results[static_cast<size_t>(output)].values);
    }
  }
  return inputs;
}

}  // namespace

GradientProblem ProblemOf(const OpCase& forward, Rng& rng) {
  std::vector<size_t> variables;
  GradientProblem problem;
  for (const GradientOutput& output : forward.op->gradient.outputs) {
    variables.push_back(static_cast<size_t>(forward.op->FindInput(output.input)));
    problem.variables.push_back(forward.inputs[variables.back()]->Values());
  }
  problem.forward = [=](size_t variable, const std::vector<double>& values, DType dtype) {
    return Moved(forward, variables[variable], values, dtype);
  };
  const OpCase exact = problem.forward(0, problem.variables[0], DType::kFloat64);
  const absl::StatusOr<OpCall> plan = PlanCase(forward);
  EXPECT_THAT(plan, IsOk());
  const TestTensor grad = Normal(plan->output(0).desc.shape, rng);
  problem.weights = grad.Values();
  problem.backward = CallOf(forward.op->gradient.op, GradientInputsOf(forward, exact, *plan, grad),
                            GradientAttributesOf(exact));
  return problem;
}

}  // namespace opserve::testing
