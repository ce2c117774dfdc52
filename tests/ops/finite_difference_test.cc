// Every backward operator is the derivative of its forward: of the reference, and of our own kernel
// as far as its precision allows. The derivative is taken of L = Σ weight · output of the forward,
// one input element at a time, by central differences.
#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>
#include <string>

#include "core/op/op_table.h"
#include "gtest/gtest.h"
#include "tests/support/calls.h"
#include "tests/support/log_softmax.h"
#include "tests/support/reference.h"
#include "tests/support/run.h"

namespace opserve::testing {
namespace {

// A backward call and the forward it belongs to.
struct Problem {
  OpCase backward;
  // The forward at the given values of one of its variables (float64 tensors, for the reference;
  // `dtype` tensors, for the kernel).
  std::function<OpCase(size_t variable, const std::vector<double>& values, DType dtype)> forward;
  // Of each variable, its values; the backward's output of the same index is its gradient.
  std::vector<std::vector<double>> variables;
  std::vector<double> weights;  // of the forward's first output
};

// What differences of a forward kernel can show: its dtype, the step, and the truncation error of a
// central difference with that step, relative to 1 + |gradient|.
struct KernelStep {
  DType dtype;
  double step;
  double truncation;
};

struct Row {
  std::string_view op;
  Problem (*make)(Rng& rng, int turn);
  // Of the backward kernel, beside the exact derivative: rounding of its dtype.
  double tolerance;
  KernelStep kernel;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.op; }

// Numbers that float32 holds, at least 1/8 from each of `bends` and of −`bends`: the wider step of
// kernels crosses none.
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

// reduction and beta as `turn` has them; self − target keeps away from the bends.
Problem MakeLoss(bool smooth, Rng& rng, int turn) {
  const Dims shape = {5, 8};
  const double beta = turn % 2 == 0 ? 0.5 : 1.0;
  std::vector<AttributeValue> attributes = {int64_t{turn % 3}};
  if (smooth) attributes.emplace_back(beta);
  const TestTensor target = TestTensor::Full(DType::kFloat32, {5, 1}, turn % 4);
  std::vector<double> self = AwayFrom({smooth ? beta : 0.0}, 40, rng);
  for (double& value : self) value += turn % 4;
  const TestTensor grad = turn % 3 == 0 ? Normal(shape, rng) : Normal({}, rng);
  Problem problem;
  problem.variables = {self};
  problem.weights = grad.Values();
  problem.backward =
      CallOf(smooth ? "SmoothL1LossBackward" : "L1LossBackward",
             {grad, TestTensor::Of(DType::kFloat32, shape, self), target}, attributes);
  problem.forward = [=](size_t, const std::vector<double>& values, DType dtype) {
    return CallOf(smooth ? "SmoothL1Loss" : "L1Loss",
                  {TestTensor::Of(dtype, shape, values), As(dtype, target)}, attributes);
  };
  return problem;
}

Problem MakeL1(Rng& rng, int turn) { return MakeLoss(false, rng, turn); }
Problem MakeSmoothL1(Rng& rng, int turn) { return MakeLoss(true, rng, turn); }

Problem MakeHardshrink(Rng& rng, int turn) {
  const double lambd = 0.25 * (turn % 4);
  const std::vector<double> self = AwayFrom({lambd}, 40, rng);
  const TestTensor grad = Normal({40}, rng);
  Problem problem;
  problem.variables = {self};
  problem.weights = grad.Values();
  problem.backward = CallOf("HardshrinkBackward", {grad, Floats(self)}, {lambd});
  problem.forward = [lambd](size_t, const std::vector<double>& values, DType dtype) {
    return CallOf("Hardshrink", {TestTensor::Of(dtype, {40}, values)}, {lambd});
  };
  return problem;
}

// Variables: the input, gamma and beta. The moments are those of the forward, rounded to float32.
Problem MakeGroupNorm(Rng& rng, int turn) {
  const int64_t groups = turn % 2 == 0 ? 2 : 1;
  const std::vector<AttributeValue> sizes = {int64_t{2}, int64_t{4}, int64_t{9}, groups, 0.125};
  const Dims shape = {2, 4, 9};
  const TestTensor grad = Normal(shape, rng);
  const std::vector<TestTensor> variables = {Normal(shape, rng), Normal({4}, rng),
                                             Normal({4}, rng)};
  Problem problem;
  for (const TestTensor& variable : variables) problem.variables.push_back(variable.Values());
  problem.weights = grad.Values();
  problem.forward = [=](size_t variable, const std::vector<double>& values, DType dtype) {
    std::vector<std::optional<TestTensor>> inputs;
    for (size_t i = 0; i < variables.size(); ++i) {
      inputs.emplace_back(i == variable ? TestTensor::Of(dtype, variables[i].desc().shape, values)
                                        : As(dtype, variables[i]));
    }
    return CallOf("GroupNorm", inputs, sizes);
  };
  const std::vector<Reference> results =
      ReferenceOf(problem.forward(0, problem.variables[0], DType::kFloat64));
  std::vector<AttributeValue> attributes = sizes;
  attributes[4] = std::vector<bool>{true, true, true};
  problem.backward =
      CallOf("GroupNormBackward",
             {grad, variables[0], TestTensor::Of(DType::kFloat32, {2, groups}, results[1].values),
              TestTensor::Of(DType::kFloat32, {2, groups}, results[2].values), variables[1]},
             attributes);
  return problem;
}

// The variable is the logits: log_softmax is part of what is derived. Labels may repeat.
Problem MakeCtc(Rng& rng, int turn) {
  const Dims shape = {9, 2, 4};
  const std::vector<int64_t> lengths = {9, 7 + turn % 3};
  const std::vector<int64_t> label_counts = {3, turn % 4};
  const std::vector<AttributeValue> attributes = {lengths, label_counts, int64_t{turn % 2}, false};
  TestTensor targets = TestTensor::Full(DType::kInt64, {2, 3}, 0);
  for (int64_t i = 0; i < 6; ++i) targets.Set(i, static_cast<int64_t>(2 + rng() % 2));
  const TestTensor grad = As(DType::kFloat64, Normal({2}, rng));
  Problem problem;
  problem.variables = {TestTensor::Random(DType::kFloat64, shape, rng).Values()};
  problem.weights = grad.Values();
  problem.forward = [=](size_t, const std::vector<double>& logits, DType dtype) {
    return CallOf("CtcLoss", {LogSoftmax(dtype, shape, logits), targets}, attributes);
  };
  const OpCase forward = problem.forward(0, problem.variables[0], DType::kFloat64);
  const std::vector<Reference> results = ReferenceOf(forward);
  const auto width = static_cast<int64_t>(results[1].values.size()) / 18;
  problem.backward = CallOf(
      "CtcLossBackward",
      {grad, forward.inputs[0], targets, TestTensor::Of(DType::kFloat64, {2}, results[0].values),
       TestTensor::Of(DType::kFloat64, {2, 9, width}, results[1].values)},
      attributes);
  return problem;
}

// L1 and Hardshrink are straight between their bends, SmoothL1 a parabola at most: their central
// differences are exact but for rounding, and the step may be wide. GroupNorm in float32 has third
// derivatives of a few units (eps = 1/8 and 18 elements or more keep rstd below 3): 2^-6 squared
// times 8. CtcLoss runs in float64 and has a derivative of its softmax's size: 1e-10 times 8.
constexpr Row kRows[] = {
    {"L1LossBackward", MakeL1, 1e-6, {DType::kFloat32, 0x1p-4, 0}},
    {"SmoothL1LossBackward", MakeSmoothL1, 1e-6, {DType::kFloat32, 0x1p-4, 0}},
    {"HardshrinkBackward", MakeHardshrink, 0, {DType::kFloat32, 0x1p-4, 0}},
    {"GroupNormBackward", MakeGroupNorm, 1e-5, {DType::kFloat32, 0x1p-6, 8 * 0x1p-12}},
    {"CtcLossBackward", MakeCtc, 1e-12, {DType::kFloat64, 1e-5, 8e-10}},
};

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

class FiniteDifferenceTest : public ::testing::TestWithParam<Row> {
 protected:
  // `tolerance` of a problem, a gradient and the forward's output.
  using Tolerance = std::function<double(const Problem&, double, const std::vector<double>&)>;

  void ExpectDerivatives(double step, DType dtype, const Forward& forward,
                         const Tolerance& tolerance) {
    Rng rng = MakeRng(std::hash<std::string_view>()(GetParam().op));
    for (int turn = 0; turn < 12; ++turn) {
      SCOPED_TRACE(turn);
      const Problem problem = GetParam().make(rng, turn);
      const absl::StatusOr<std::vector<TestTensor>> gradients = AllOutputs(problem.backward);
      ASSERT_TRUE(gradients.ok()) << gradients.status();
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
};

// In float64 a step of 2^-17 leaves 2^-34 of truncation and 2^-36 of rounding a unit of L.
TEST_P(FiniteDifferenceTest, OfTheReference) {
  const double step = 0x1p-17;
  ExpectDerivatives(
      step, DType::kFloat64, [](const OpCase& c) { return ReferenceOf(c)[0].values; },
      [&](const Problem& problem, double gradient, const std::vector<double>& output) {
        return GetParam().tolerance * (1 + std::fabs(gradient)) + 1e-9 +
               0x1p-50 * WeightedMagnitude(problem, output) / step;
      });
}

// Both ends of the difference may be off by a few ulps of every output.
TEST_P(FiniteDifferenceTest, OfOurForward) {
  const KernelStep kernel = GetParam().kernel;
  const double ulp = kernel.dtype == DType::kFloat64 ? 0x1p-52 : 0x1p-23;
  ExpectDerivatives(
      kernel.step, kernel.dtype,
      [](const OpCase& c) {
        const absl::StatusOr<std::vector<double>> values = FirstOutput(c);
        EXPECT_TRUE(values.ok()) << values.status();
        return values.ok() ? *values : std::vector<double>();
      },
      [&](const Problem& problem, double gradient, const std::vector<double>& output) {
        return (GetParam().tolerance + kernel.truncation) * (1 + std::fabs(gradient)) +
               2 * ulp * WeightedMagnitude(problem, output) / kernel.step;
      });
}

INSTANTIATE_TEST_SUITE_P(AllBackward, FiniteDifferenceTest, ::testing::ValuesIn(kRows),
                         [](const auto& row) { return std::string(row.param.op); });

TEST(FiniteDifferenceRowsTest, CoverEveryBackwardOperator) {
  for (const Operator* op : AllOperators()) {
    if (!op->name.ends_with("Backward")) continue;
    EXPECT_TRUE(std::any_of(std::begin(kRows), std::end(kRows),
                            [op](const Row& row) { return row.op == op->name; }))
        << "no row for " << op->name;
  }
}

}  // namespace
}  // namespace opserve::testing
