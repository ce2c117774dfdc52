// GroupNorm and GroupNormBackward: values stated by the contract.
#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/group_norm_calls.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::NanSensitiveDoubleEq;
using ::testing::Truly;

TestTensor Filled(const Dims& shape, double value) {
  return TestTensor::Full(DType::kFloat32, shape, value);
}

// All outputs; a failed call fails the test.
std::vector<TestTensor> Outputs(const OpCase& op_case) {
  absl::StatusOr<std::vector<TestTensor>> outputs = AllOutputs(op_case);
  EXPECT_THAT(outputs, IsOk());
  return outputs.ok() ? *std::move(outputs)
                      : std::vector<TestTensor>(3, TestTensor::Full(DType::kFloat32, {1}, kNaN));
}

// N = C = group = 1.
GroupNormTensors OneGroup(double mean, double rstd) {
  return {.grad_out = Floats({1, 2}),
          .input = Floats({1, 3}),
          .mean = Floats({mean}),
          .rstd = Floats({rstd}),
          .gamma = std::nullopt};
}

TEST(GroupNormBackwardTest, IsTheFormula) {
  const auto outputs = Outputs(GroupNormBackwardCall(GoodGradient(), kGoodSizes));
  EXPECT_THAT(outputs[0].Values(), ElementsAre(-6.5, -23.5, -34.5, -49.5, -1053, -705, -349, -5));
  EXPECT_THAT(outputs[1].Values(), ElementsAre(74, 26));
  EXPECT_THAT(outputs[2].Values(), ElementsAre(10, 10));
}

TEST(GroupNormBackwardTest, EachGroupHasItsOwnMoments) {
  GroupNormTensors tensors = GoodGradient();
  tensors.mean = TestTensor::Of(DType::kFloat32, {2, 2}, {1, 2, 3, 4});
  tensors.rstd = TestTensor::Of(DType::kFloat32, {2, 2}, {1, 2, 0.5, 0.25});
  const auto outputs = Outputs(GroupNormBackwardCall(tensors, {2, 2, 2, 2}));
  EXPECT_THAT(outputs[0].Values(), ElementsAre(-1, -1, -180, -348, -17.625, -11.375, 0.5, -0.625));
  EXPECT_THAT(outputs[1].Values(), ElementsAre(16.5, 21.5));
  EXPECT_THAT(outputs[2].Values(), ElementsAre(10, 10));
}

// N * C overflows, N * C * HxW does not.
TEST(GroupNormBackwardTest, NoElementsOfHugeExtents) {
  constexpr int64_t kN = int64_t{1} << 59;
  const TestTensor nothing = TestTensor::Of(DType::kFloat32, {kN, 32, 0}, {});
  TensorDesc repeated = TensorDesc::Dense(DType::kFloat32, Dims{1, 1});
  repeated.shape = {kN, 1};
  repeated.strides = {0, 0};
  const TestTensor moments(repeated);
  const auto outputs = Outputs(GroupNormBackwardCall({.grad_out = nothing,
                                                      .input = nothing,
                                                      .mean = moments,
                                                      .rstd = moments,
                                                      .gamma = std::nullopt},
                                                     {kN, 32, 0, 1}));
  EXPECT_THAT(outputs[1].Values(), Each(0));
}

TEST(GroupNormBackwardTest, MissingGammaIsOne) {
  GroupNormTensors tensors = GoodGradient();
  tensors.gamma = std::nullopt;
  const auto without = Outputs(GroupNormBackwardCall(tensors, kGoodSizes));
  EXPECT_THAT(without[0].Values(), ElementsAre(-1.5, -5.5, -9.5, -13.5, -477, -319, -161, -3));
  EXPECT_EQ(without[1].desc().shape, (Dims{2}));
  EXPECT_EQ(without[2].desc().shape, (Dims{2}));
  tensors.gamma = Floats({1, 1});
  const auto with = Outputs(GroupNormBackwardCall(tensors, kGoodSizes));
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(without[i].Values(), with[i].Values()) << i;
}

TEST(GroupNormBackwardTest, MeanAndRstdAreTakenAsGiven) {
  const GroupNormSizes sizes = {1, 1, 2, 1};
  const auto true_moments = Outputs(GroupNormBackwardCall(OneGroup(2, 0.5), sizes));
  EXPECT_THAT(true_moments[0].Values(), ElementsAre(-0.1875, 0.1875));
  EXPECT_THAT(true_moments[1].Values(), ElementsAre(0.5));
  const auto others = Outputs(GroupNormBackwardCall(OneGroup(0, 2), sizes));
  EXPECT_THAT(others[0].Values(), ElementsAre(-29, -83));
  EXPECT_THAT(others[1].Values(), ElementsAre(14));
  EXPECT_THAT(others[2].Values(), ElementsAre(3));
}

TEST(GroupNormBackwardTest, EveryMaskGivesItsOutputsAndNoOthers) {
  const auto all = Outputs(GroupNormBackwardCall(GoodGradient(), kGoodSizes));
  for (unsigned bits = 0; bits < 8; ++bits) {
    SCOPED_TRACE(bits);
    const std::vector<bool> mask = {(bits & 1U) != 0, (bits & 2U) != 0, (bits & 4U) != 0};
    const auto outputs = Outputs(GroupNormBackwardCall(GoodGradient(), kGoodSizes, mask));
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(outputs[i].Values(), mask[i] ? all[i].Values() : std::vector<double>()) << i;
      EXPECT_EQ(outputs[i].desc().shape, mask[i] ? all[i].desc().shape : Dims{0}) << i;
    }
  }
}

TEST(GroupNormBackwardTest, TheMaskIsAllUnlessGiven) {
  OpCase op_case = GroupNormBackwardCall(GoodGradient(), kGoodSizes);
  op_case.attributes[4] = std::monostate();
  const auto outputs = Outputs(op_case);
  EXPECT_THAT(outputs[1].Values(), ElementsAre(74, 26));
}

TEST(GroupNormBackwardTest, WithoutABatchGammaAndBetaAreStillOwed) {
  const GroupNormTensors tensors = {.grad_out = Filled({0, 3, 4}, 0),
                                    .input = Filled({0, 3, 4}, 0),
                                    .mean = Filled({0, 3}, 0),
                                    .rstd = Filled({0, 3}, 0),
                                    .gamma = Floats({5, 5, 5})};
  const auto outputs = Outputs(GroupNormBackwardCall(tensors, {0, 3, 4, 3}));
  EXPECT_EQ(outputs[0].desc().shape, (Dims{0, 3, 4}));
  EXPECT_THAT(outputs[1].Values(), ElementsAre(0, 0, 0));
  EXPECT_THAT(outputs[2].Values(), ElementsAre(0, 0, 0));
}

TEST(GroupNormBackwardTest, WithoutAnAreaGammaAndBetaAreZerosWhateverTheMoments) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    const GroupNormTensors tensors = {.grad_out = TestTensor::Full(dtype, {2, 3, 0}, 0),
                                      .input = TestTensor::Full(dtype, {0}, 0),
                                      .mean = TestTensor::Full(dtype, {2, 1}, kNaN),
                                      .rstd = TestTensor::Full(dtype, {2, 1}, kInfinity),
                                      .gamma = std::nullopt};
    const auto outputs = Outputs(GroupNormBackwardCall(tensors, {2, 3, 0, 1}));
    EXPECT_EQ(outputs[0].desc().shape, (Dims{0}));
    EXPECT_THAT(outputs[1].Values(), ElementsAre(0, 0, 0));
    EXPECT_THAT(outputs[2].Values(), ElementsAre(0, 0, 0));
  }
}

TEST(GroupNormBackwardTest, WithoutChannelsNothingIsOwed) {
  const GroupNormTensors tensors = {.grad_out = Filled({2, 0, 3}, 0),
                                    .input = Filled({2, 0, 3}, 0),
                                    .mean = Filled({2, 1}, 0),
                                    .rstd = Filled({2, 1}, 1),
                                    .gamma = Floats({})};
  const auto outputs = Outputs(GroupNormBackwardCall(tensors, {2, 0, 3, 1}));
  for (size_t i = 0; i < 3; ++i) EXPECT_THAT(outputs[i].Values(), IsEmpty()) << i;
}

TEST(GroupNormBackwardTest, NaNStaysInItsGroup) {
  GroupNormTensors tensors = GoodGradient();
  tensors.grad_out->Set(0, kNaN);  // of sample 0, channel 0
  tensors.mean = TestTensor::Of(DType::kFloat32, {2, 2}, {1, 2, 3, 4});
  tensors.rstd = TestTensor::Of(DType::kFloat32, {2, 2}, {1, 2, 0.5, 0.25});
  const auto outputs = Outputs(GroupNormBackwardCall(tensors, {2, 2, 2, 2}));
  const auto nan = NanSensitiveDoubleEq(kNaN);
  EXPECT_THAT(outputs[0].Values(),
              ElementsAre(nan, nan, -180, -348, -17.625, -11.375, 0.5, -0.625));
  EXPECT_THAT(outputs[1].Values(), ElementsAre(nan, 21.5));
  EXPECT_THAT(outputs[2].Values(), ElementsAre(nan, 10));
}

TEST(GroupNormBackwardTest, AnInfiniteGradientReachesTheSums) {
  GroupNormTensors tensors = OneGroup(2, 0.5);
  tensors.grad_out = Floats({1, kInfinity});
  const auto outputs = Outputs(GroupNormBackwardCall(tensors, {1, 1, 2, 1}));
  // The formula has ∞ − ∞ in ds − db·mean; with the mean taken out first that is ∞. Neither is
  // finite.
  const auto not_finite = Truly([](double value) { return !std::isfinite(value); });
  EXPECT_THAT(outputs[0].Values(), Each(NanSensitiveDoubleEq(kNaN)));
  EXPECT_THAT(outputs[1].Values(), ElementsAre(not_finite));
  EXPECT_THAT(outputs[2].Values(), ElementsAre(kInfinity));
}

TEST(GroupNormBackwardTest, HalfTypesAreSummedInFloats) {
  // In its own dtype a sum of ones would stop at 2048 (binary16) or 256 (bfloat16).
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const GroupNormTensors tensors = {.grad_out = TestTensor::Full(dtype, {4096}, 1),
                                      .input = TestTensor::Full(dtype, {4096}, 2),
                                      .mean = TestTensor::Full(dtype, {1}, 0),
                                      .rstd = TestTensor::Full(dtype, {1}, 1),
                                      .gamma = std::nullopt};
    const auto outputs = Outputs(GroupNormBackwardCall(tensors, {1, 1, 4096, 1}));
    EXPECT_THAT(outputs[1].Values(), ElementsAre(8192));
    EXPECT_THAT(outputs[2].Values(), ElementsAre(4096));
    EXPECT_EQ(outputs[2].desc().dtype, dtype);
  }
}

TEST(GroupNormBackwardTest, ShapesAreFreeAndElementCountsAreNot) {
  GroupNormTensors tensors = GoodGradient();
  tensors.grad_out =
      TestTensor::Of(DType::kFloat32, {1, 2, 1, 2, 1, 1, 1, 2}, tensors.grad_out->Values());
  tensors.input = TestTensor::Of(DType::kFloat32, {4, 2}, tensors.input->Values());
  tensors.mean = Floats({1, 2});
  tensors.gamma = TestTensor::Of(DType::kFloat32, {1, 2, 1}, {2, 4});
  const auto outputs = Outputs(GroupNormBackwardCall(tensors, kGoodSizes));
  EXPECT_EQ(outputs[0].desc().shape, (Dims{4, 2}));
  EXPECT_THAT(outputs[0].Values(), ElementsAre(-6.5, -23.5, -34.5, -49.5, -1053, -705, -349, -5));
  EXPECT_EQ(outputs[1].desc().shape, (Dims{1, 2, 1}));
  EXPECT_EQ(outputs[2].desc().shape, (Dims{1, 2, 1}));
}

TEST(GroupNormBackwardTest, RankZero) {
  const TestTensor two = TestTensor::Of(DType::kFloat32, {}, {2});
  const GroupNormTensors tensors = {two, two, two, two, two};
  const auto outputs = Outputs(GroupNormBackwardCall(tensors, {1, 1, 1, 1}));
  // c1 = 4, DS = 8, DB = 4: c2 = (4·2 − 8)·8 = 0, c3 = −4·2.
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(outputs[i].desc().shape, Dims{}) << i;
  EXPECT_THAT(outputs[0].Values(), ElementsAre(0));
  EXPECT_THAT(outputs[1].Values(), ElementsAre(0));
  EXPECT_THAT(outputs[2].Values(), ElementsAre(2));
}

TEST(GroupNormTest, Normalizes) {
  const auto outputs = Outputs(
      GroupNormCall(Floats({1, 3, 10, 12}), Floats({1, 4}), Floats({0, 10}), {1, 2, 2, 2}, 3.0));
  EXPECT_THAT(outputs[0].Values(), ElementsAre(-0.5, 0.5, 8, 12));
  EXPECT_THAT(outputs[1].Values(), ElementsAre(2, 11));
  EXPECT_THAT(outputs[2].Values(), ElementsAre(0.5, 0.5));
  EXPECT_EQ(outputs[0].desc().shape, (Dims{4}));
  EXPECT_EQ(outputs[1].desc().shape, (Dims{1, 2}));
  EXPECT_EQ(outputs[2].desc().shape, (Dims{1, 2}));
}

TEST(GroupNormTest, TheVarianceIsBiasedAndOfTheWholeGroup) {
  const auto outputs =
      Outputs(GroupNormCall(Floats({0, 0, 4, 4}), std::nullopt, std::nullopt, {1, 2, 2, 1}, 12.0));
  EXPECT_THAT(outputs[0].Values(), ElementsAre(-0.5, -0.5, 0.5, 0.5));
  EXPECT_THAT(outputs[1].Values(), ElementsAre(2));
  EXPECT_THAT(outputs[2].Values(), ElementsAre(0.25));
}

TEST(GroupNormTest, GammaOrBetaMayBeMissing) {
  const TestTensor self = Floats({1, 3});
  const GroupNormSizes sizes = {1, 1, 2, 1};
  EXPECT_THAT(*FirstOutput(GroupNormCall(self, Floats({2}), std::nullopt, sizes, 3.0)),
              ElementsAre(-1, 1));
  EXPECT_THAT(*FirstOutput(GroupNormCall(self, std::nullopt, Floats({2}), sizes, 3.0)),
              ElementsAre(1.5, 2.5));
}

TEST(GroupNormTest, NaNAndInfinityStayInTheirGroup) {
  const auto outputs = Outputs(GroupNormCall(Floats({kNaN, 1, kInfinity, 1, 1, 3}), std::nullopt,
                                             std::nullopt, {3, 1, 2, 1}, 3.0));
  const auto nan = NanSensitiveDoubleEq(kNaN);
  EXPECT_THAT(outputs[0].Values(), ElementsAre(nan, nan, nan, nan, -0.5, 0.5));
  EXPECT_THAT(outputs[1].Values(), ElementsAre(nan, kInfinity, 2));
  EXPECT_THAT(outputs[2].Values(), ElementsAre(nan, nan, 0.5));
}

TEST(GroupNormTest, AGroupWithoutElementsHasMeanZeroAndNoRstd) {
  const auto outputs =
      Outputs(GroupNormCall(Filled({2, 3, 0}, 0), std::nullopt, std::nullopt, {2, 3, 0, 1}, 1e-5));
  EXPECT_EQ(outputs[0].desc().shape, (Dims{2, 3, 0}));
  EXPECT_THAT(outputs[1].Values(), ElementsAre(0, 0));
  EXPECT_THAT(outputs[2].Values(), Each(NanSensitiveDoubleEq(kNaN)));
  const auto nobody =
      Outputs(GroupNormCall(Filled({0, 3, 4}, 0), std::nullopt, std::nullopt, {0, 3, 4, 3}, 1e-5));
  EXPECT_EQ(nobody[1].desc().shape, (Dims{0, 3}));
}

}  // namespace
}  // namespace opserve::testing
