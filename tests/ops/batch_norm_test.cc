// BatchNorm and its gradient: values stated by the contract, what is refused, and by which name.
#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/calls.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsNan;

// Two channels: 1, 3 and 4, 8.
const TestTensor kTwoChannels = TestTensor::Of(DType::kFloat32, {2, 2}, {1, 4, 3, 8});

std::vector<TestTensor> BatchNormOutputs(const OpCase& op_case) {
  absl::StatusOr<std::vector<TestTensor>> outputs = AllOutputs(op_case);
  EXPECT_THAT(outputs, IsOk());
  return outputs.ok() ? *std::move(outputs) : std::vector<TestTensor>(5, Floats({}));
}

OpCase BatchNormCall(bool training, std::optional<TestTensor> mean,
                     std::optional<TestTensor> variance, double momentum = 0.5, double eps = 0) {
  return CallOf(
      "BatchNorm",
      {kTwoChannels, Floats({2, 4}), Floats({1, 0}), std::move(mean), std::move(variance)},
      {training, momentum, eps});
}

OpCase BatchNormBackwardCall(bool training) {
  return CallOf("BatchNormBackward",
                {TestTensor::Of(DType::kFloat32, {2, 2}, {1, 0, 0, 2}), kTwoChannels,
                 Floats({2, 4}), Floats({1, 4}), Floats({4, 16}), Floats({2, 6}), Floats({1, 0.5})},
                {training, 0.0, std::vector<bool>{true, true, true}});
}

TEST(BatchNormTest, TrainingTakesTheStatisticsOfTheInput) {
  const auto outputs = BatchNormOutputs(BatchNormCall(true, Floats({4, 2}), Floats({6, 0})));
  EXPECT_THAT(outputs[0].Values(), ElementsAre(-1, -4, 3, 4));
  EXPECT_THAT(outputs[1].Values(), ElementsAre(2, 6));
  EXPECT_THAT(outputs[2].Values(), ElementsAre(1, 0.5));
  EXPECT_THAT(outputs[3].Values(), ElementsAre(3, 4));
  // The unbiased variances are 2 and 8.
  EXPECT_THAT(outputs[4].Values(), ElementsAre(4, 4));
}

TEST(BatchNormTest, EvaluationTakesTheRunningStatistics) {
  const auto outputs = BatchNormOutputs(BatchNormCall(false, Floats({1, 4}), Floats({4, 16})));
  EXPECT_THAT(outputs[0].Values(), ElementsAre(1, 0, 3, 4));
  EXPECT_THAT(outputs[1].Values(), ElementsAre(1, 4));
  EXPECT_THAT(outputs[2].Values(), ElementsAre(0.5, 0.25));
  EXPECT_THAT(outputs[3].Values(), IsEmpty());
  EXPECT_THAT(outputs[4].Values(), IsEmpty());
}

TEST(BatchNormTest, TrainingNeedsNoRunningStatistics) {
  const auto outputs = BatchNormOutputs(BatchNormCall(true, std::nullopt, Floats({6, 0})));
  EXPECT_THAT(outputs[3].Values(), IsEmpty());
  EXPECT_THAT(outputs[4].Values(), ElementsAre(4, 4));
}

TEST(BatchNormTest, WithoutElementsTheRunningStatisticsStay) {
  OpCase op_case = BatchNormCall(true, Floats({4, 2}), Floats({6, 0}));
  op_case.inputs[0] = TestTensor::Full(DType::kFloat32, {0, 2, 3}, 0);
  const auto outputs = BatchNormOutputs(op_case);
  EXPECT_THAT(outputs[1].Values(), ElementsAre(0, 0));
  EXPECT_THAT(outputs[2].Values(), Each(IsNan()));
  EXPECT_THAT(outputs[3].Values(), ElementsAre(4, 2));
  EXPECT_THAT(outputs[4].Values(), ElementsAre(6, 0));
}

TEST(BatchNormTest, ASingleElementHasNoUnbiasedVariance) {
  OpCase op_case = BatchNormCall(true, Floats({4, 2}), Floats({6, 0}));
  op_case.inputs[0] = TestTensor::Of(DType::kFloat32, {1, 2}, {2, 6});
  EXPECT_THAT(BatchNormOutputs(op_case)[4].Values(), Each(IsNan()));
}

TEST(BatchNormTest, RefusesWhatDoesNotFit) {
  ExpectInvalid(BatchNormCall(false, std::nullopt, Floats({1, 1})), "running_mean");
  ExpectInvalid(BatchNormCall(false, Floats({1, 1}), std::nullopt), "running_var");
  ExpectInvalid(BatchNormCall(true, Floats({1}), Floats({1, 1})), "running_mean");
  ExpectInvalid(BatchNormCall(true, std::nullopt, std::nullopt, 0.5, -1), "eps");
  OpCase op_case = BatchNormCall(true, std::nullopt, std::nullopt);
  op_case.inputs[0] = Floats({1, 2});
  ExpectInvalid(op_case, "input");
  op_case = BatchNormCall(true, std::nullopt, std::nullopt);
  op_case.inputs[1] = TestTensor::Of(DType::kFloat16, {2}, {1, 1});
  ExpectInvalid(op_case, "weight");
}

TEST(BatchNormBackwardTest, TrainingIsTheFormula) {
  const auto outputs = BatchNormOutputs(BatchNormBackwardCall(true));
  // Of two elements nothing is left once mean and variance are taken out.
  EXPECT_THAT(outputs[0].Values(), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(outputs[1].Values(), ElementsAre(-1, 2));
  EXPECT_THAT(outputs[2].Values(), ElementsAre(1, 2));
}

TEST(BatchNormBackwardTest, EvaluationScales) {
  const auto outputs = BatchNormOutputs(BatchNormBackwardCall(false));
  EXPECT_THAT(outputs[0].Values(), ElementsAre(1, 0, 0, 2));
  EXPECT_THAT(outputs[1].Values(), ElementsAre(0, 2));
  EXPECT_THAT(outputs[2].Values(), ElementsAre(1, 2));
}

TEST(BatchNormBackwardTest, EachModeNeedsItsStatistics) {
  for (const bool training : {true, false}) {
    OpCase op_case = BatchNormBackwardCall(training);
    op_case.inputs[training ? 3 : 5].reset();
    op_case.inputs[training ? 4 : 6].reset();
    EXPECT_THAT(PlanCase(op_case), IsOk());
    op_case.inputs[training ? 5 : 3].reset();
    ExpectInvalid(op_case, training ? "save_mean" : "running_mean");
  }
}

}  // namespace
}  // namespace opserve::testing
