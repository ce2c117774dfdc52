// Every backward operator is the derivative of its forward: of the reference, and of our own kernel
// as far as its precision allows. The derivative is taken of L = Σ weight · output of the forward,
// one input element at a time, by central differences.
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>

#include "core/op/op_table.h"
#include "gtest/gtest.h"
#include "tests/support/calls.h"
#include "tests/support/operator_test.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing::finite_difference {
namespace {

using Problem = GradientProblem;

double WeightedSum(const Problem& problem, const std::vector<double>& output) {
  double sum = 0;
  for (size_t i = 0; i < output.size(); ++i) sum += problem.weights[i] * output[i];
  return sum;
}

double WeightedMagnitude(const Problem& problem, const std::vector<double>& output) {
  double sum = 0;
  for (size_t i = 0; i < output.size(); ++i) sum += std::fabs(problem.weights[i] * output[i]);
  return sum;
}

using Forward = std::function<std::vector<double>(const OpCase&)>;

// ∂L/∂element, `element` of `variable`.
double Difference(const Problem& problem, size_t variable, size_t element, double step, DType dtype,
                  const Forward& forward) {
  const auto at = [&](double shift) {
    std::vector<double> values = problem.variables[variable];
    values[element] += shift;
    return WeightedSum(problem, forward(problem.forward(variable, values, dtype)));
  };
  return (at(step) - at(-step)) / (2 * step);
}

// At most 24 elements, spread over all.
std::vector<size_t> SomeElements(size_t count) {
  std::vector<size_t> elements;
  const size_t stride = std::max<size_t>(1, count / 24);
  for (size_t i = 0; i < count; i += stride) elements.push_back(i);
  return elements;
}

class FiniteDifferenceTest : public ::testing::TestWithParam<const Operator*> {
 protected:
  // One engine for all calls: it takes longer to make than they do.
  static void SetUpTestSuite() { engine_ = MakeEngine(1); }
  static void TearDownTestSuite() { engine_ = nullptr; }

  static const GradientCheck& check() { return TestOf(*GetParam()).gradient; }

  // `tolerance` of a problem, a gradient and the forward's output.
  using Tolerance = std::function<double(const Problem&, double, const std::vector<double>&)>;

  void ExpectDerivatives(double step, DType dtype, const Forward& forward,
                         const Tolerance& tolerance) {
    Rng rng = MakeRng(std::hash<std::string_view>()(GetParam()->name));
    for (int turn = 0; turn < 12; ++turn) {
      SCOPED_TRACE(turn);
      const Problem problem = check().problem(rng, turn);
      const absl::StatusOr<std::vector<TestTensor>> gradients =
          testing::Run(*engine_, problem.backward);
      ASSERT_THAT(gradients, IsOk());
      for (size_t variable = 0; variable < problem.variables.size(); ++variable) {
        const std::vector<double> output =
            forward(problem.forward(variable, problem.variables[variable], dtype));
        for (const size_t i : SomeElements(problem.variables[variable].size())) {
          const double gradient = (*gradients)[variable].At(static_cast<int64_t>(i));
          EXPECT_NEAR(gradient, Difference(problem, variable, i, step, dtype, forward),
                      tolerance(problem, gradient, output))
              << "variable " << variable << ", element " << i;
        }
      }
    }
  }

  static inline std::unique_ptr<Engine> engine_;
};

// In float64 a step of 2^-17 leaves 2^-34 of truncation and 2^-36 of rounding a unit of L.
TEST_P(FiniteDifferenceTest, OfTheReference) {
  const double step = 0x1p-17;
  ExpectDerivatives(
      step, DType::kFloat64, [](const OpCase& c) { return ReferenceOf(c)[0].values; },
      [&](const Problem& problem, double gradient, const std::vector<double>& output) {
        return check().tolerance * (1 + std::fabs(gradient)) + 1e-9 +
               0x1p-50 * WeightedMagnitude(problem, output) / step;
      });
}

// Both ends of the difference may be off by a few ulps of every output.
TEST_P(FiniteDifferenceTest, OfOurForward) {
  const GradientCheck& kernel = check();
  const double ulp = kernel.dtype == DType::kFloat64 ? 0x1p-52 : 0x1p-23;
  ExpectDerivatives(
      kernel.step, kernel.dtype,
      [](const OpCase& c) {
        const absl::StatusOr<std::vector<TestTensor>> outputs = testing::Run(*engine_, c);
        EXPECT_THAT(outputs, IsOk());
        return outputs.ok() ? outputs->front().Values() : std::vector<double>();
      },
      [&](const Problem& problem, double gradient, const std::vector<double>& output) {
        return (check().tolerance + kernel.truncation) * (1 + std::fabs(gradient)) +
               2 * ulp * WeightedMagnitude(problem, output) / kernel.step;
      });
}

std::vector<const Operator*> OperatorsWithGradientCheck() {
  std::vector<const Operator*> operators;
  for (const Operator* op : AllOperators()) {
    if (TestOf(*op).gradient.problem != nullptr) operators.push_back(op);
  }
  return operators;
}

INSTANTIATE_TEST_SUITE_P(AllBackward, FiniteDifferenceTest,
                         ::testing::ValuesIn(OperatorsWithGradientCheck()),
                         [](const auto& row) { return std::string(row.param->name); });

TEST(FiniteDifferenceRowsTest, CoverEveryBackwardOperator) {
  for (const Operator* op : AllOperators()) {
    if (op->gradient.op.empty()) continue;
    EXPECT_NE(TestOf(**FindOperator(op->gradient.op)).gradient.problem, nullptr) << op->gradient.op;
  }
}

}  // namespace
}  // namespace opserve::testing::finite_difference
