// LayerNorm, RmsNorm and their gradients: values stated by the contract, what is refused, and by
// which name.
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/calls.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::IsEmpty;
using ::testing::IsNan;
using ::testing::Pointwise;

using Extents = std::vector<int64_t>;

TestTensor RowsOfTwo(DType dtype = DType::kFloat32) {
  return TestTensor::Of(dtype, {2, 2}, {1, 3, 4, 8});
}

TestTensor Pair(double a, double b, DType dtype = DType::kFloat32) {
  return TestTensor::Of(dtype, {2}, {a, b});
}

std::vector<TestTensor> RowNormOutputs(const OpCase& op_case) {
  absl::StatusOr<std::vector<TestTensor>> outputs = AllOutputs(op_case);
  EXPECT_THAT(outputs, IsOk());
  return outputs.ok() ? *std::move(outputs) : std::vector<TestTensor>(3, Floats({}));
}

OpCase GoodLayerNorm(const Extents& normalized = {2}, double eps = 0) {
  return CallOf("LayerNorm", {RowsOfTwo(), Pair(2, 4), Pair(1, 0)}, {normalized, eps});
}

OpCase GoodLayerNormBackward(const std::vector<bool>& mask = {true, true, true}) {
  return CallOf("LayerNormBackward",
                {TestTensor::Of(DType::kFloat32, {2, 2}, {1, 0, 0, 2}), RowsOfTwo(),
                 TestTensor::Of(DType::kFloat32, {2, 1}, {2, 6}),
                 TestTensor::Of(DType::kFloat32, {2, 1}, {1, 0.5}), Pair(2, 4), std::nullopt},
                {Extents{2}, mask});
}

OpCase GoodRmsNorm(double epsilon = 0) {
  return CallOf("RmsNorm", {TestTensor::Of(DType::kFloat32, {2, 2}, {1, 7, -7, 17}), Pair(10, 5)},
                {epsilon});
}

OpCase GoodRmsNormGrad() {
  return CallOf("RmsNormGrad",
                {TestTensor::Of(DType::kFloat32, {1, 2}, {1, 2}),
                 TestTensor::Of(DType::kFloat32, {1, 2}, {1, 3}),
                 TestTensor::Of(DType::kFloat32, {1, 1}, {0.5}), Pair(2, 4)},
                {});
}

TEST(LayerNormTest, IsTheFormula) {
  const auto outputs = RowNormOutputs(GoodLayerNorm());
  EXPECT_THAT(outputs[0].Values(), ElementsAre(-1, 4, -1, 4));
  EXPECT_THAT(outputs[1].Values(), ElementsAre(2, 6));
  EXPECT_THAT(outputs[2].Values(), ElementsAre(1, 0.5));
  EXPECT_EQ(outputs[1].desc().shape, (Dims{2, 1}));
}

TEST(LayerNormTest, SumsAndSquaresMayBeBeyondFloat32) {
  const double large = 3e38F;
  for (const int64_t columns : {2, 3000}) {  // one piece, and several
    const OpCase alike =
        CallOf("LayerNorm",
               {TestTensor::Full(DType::kFloat32, {1, columns}, large), std::nullopt, std::nullopt},
               {Extents{columns}, 0.25});
    const auto outputs = RowNormOutputs(alike);
    EXPECT_THAT(outputs[0].Values(), Each(0));
    EXPECT_THAT(outputs[1].Values(), ElementsAre(large));
    EXPECT_THAT(outputs[2].Values(), ElementsAre(2));
  }
  const auto outputs = RowNormOutputs(
      CallOf("LayerNorm",
             {TestTensor::Of(DType::kFloat32, {1, 2}, {1e20F, -1e20F}), std::nullopt, std::nullopt},
             {Extents{2}, 0.0}));
  EXPECT_THAT(outputs[0].Values(), ElementsAre(DoubleNear(1, 1e-6), DoubleNear(-1, 1e-6)));
}

TEST(LayerNormTest, StatisticsHaveOnesForAllThatIsNormalized) {
  const auto outputs = RowNormOutputs(
      CallOf("LayerNorm", {RowsOfTwo(), std::nullopt, std::nullopt}, {Extents{2, 2}, 0.0}));
  EXPECT_EQ(outputs[1].desc().shape, (Dims{1, 1}));
  EXPECT_THAT(outputs[1].Values(), ElementsAre(4));
}

TEST(LayerNormTest, NothingToNormalizeHasMeanZeroAndNoRstd) {
  const auto outputs = RowNormOutputs(CallOf(
      "LayerNorm", {TestTensor::Full(DType::kFloat32, {3, 0}, 0), std::nullopt, std::nullopt},
      {Extents{0}, 1e-5}));
  EXPECT_THAT(outputs[0].Values(), IsEmpty());
  EXPECT_THAT(outputs[1].Values(), ElementsAre(0, 0, 0));
  EXPECT_THAT(outputs[2].Values(), Each(IsNan()));
}

TEST(LayerNormTest, StatisticsHaveTheDtypeOfTheParameters) {
  OpCase mixed = GoodLayerNorm();
  mixed.inputs[0] = RowsOfTwo(DType::kBFloat16);
  const auto outputs = RowNormOutputs(mixed);
  EXPECT_EQ(outputs[0].desc().dtype, DType::kBFloat16);
  EXPECT_EQ(outputs[1].desc().dtype, DType::kFloat32);
  mixed.output_dtypes = {DType::kBFloat16, DType::kBFloat16, DType::kFloat32};
  EXPECT_EQ(RowNormOutputs(mixed)[1].desc().dtype, DType::kBFloat16);
}

TEST(LayerNormTest, StatisticsMayBeLeftOut) {
  absl::StatusOr<OpCall> call = BindCase(GoodLayerNorm());
  ASSERT_THAT(call, IsOk());
  for (const int output : {1, 2}) call->output(output).origin = OutputSlot::Origin::kMissing;
  ASSERT_THAT(PlanCall(*call), IsOk());
  EXPECT_TRUE(call->output(0).wanted);
  EXPECT_FALSE(call->output(1).wanted || call->output(2).wanted);
}

TEST(LayerNormTest, RefusesWhatDoesNotFit) {
  ExpectInvalid(GoodLayerNorm({}), "normalized_shape");
  ExpectInvalid(GoodLayerNorm({3}), "normalized_shape");
  ExpectInvalid(GoodLayerNorm({1, 2, 2}), "normalized_shape");
  ExpectInvalid(GoodLayerNorm({-2}), "normalized_shape");
  ExpectInvalid(GoodLayerNorm({2, 2}), "weight");
  ExpectInvalid(GoodLayerNorm({2}, -1), "eps");
  OpCase other = GoodLayerNorm();
  other.inputs[1] = Pair(2, 4, DType::kFloat16);
  ExpectInvalid(other, "weight");
  other = GoodLayerNorm();
  other.inputs[0] = RowsOfTwo(DType::kFloat16);
  other.inputs[1] = Pair(2, 4, DType::kFloat16);
  ExpectInvalid(other, "bias");
  other.inputs[2] = Floats({1});
  other.inputs[1].reset();
  ExpectInvalid(other, "bias");
}

TEST(LayerNormBackwardTest, IsTheFormula) {
  const auto outputs = RowNormOutputs(GoodLayerNormBackward());
  // x = {-1, 1} in both rows: (g - mean(g) - x·mean(g·x))·rstd is 0 of two elements.
  EXPECT_THAT(outputs[0].Values(), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(outputs[1].Values(), ElementsAre(-1, 2));
  EXPECT_THAT(outputs[2].Values(), ElementsAre(1, 2));
}

TEST(LayerNormBackwardTest, NoRowsOweZeros) {
  const TestTensor none = TestTensor::Full(DType::kFloat32, {0, 2}, 0);
  const TestTensor no_rows = TestTensor::Full(DType::kFloat32, {0, 1}, 0);
  OpCase op_case = GoodLayerNormBackward();
  op_case.inputs = {none, none, no_rows, no_rows, Pair(2, 4), std::nullopt};
  const auto outputs = RowNormOutputs(op_case);
  EXPECT_THAT(outputs[1].Values(), ElementsAre(0, 0));
  EXPECT_THAT(outputs[2].Values(), ElementsAre(0, 0));
}

TEST(LayerNormBackwardTest, WhatIsMaskedOutIsEmpty) {
  const auto outputs = RowNormOutputs(GoodLayerNormBackward({false, true, false}));
  EXPECT_THAT(outputs[0].Values(), IsEmpty());
  EXPECT_THAT(outputs[1].Values(), ElementsAre(-1, 2));
  EXPECT_THAT(outputs[2].Values(), IsEmpty());
}

TEST(LayerNormBackwardTest, RefusesWhatDoesNotFit) {
  const auto expect = [](size_t input, const TestTensor& tensor, std::string_view parameter) {
    OpCase op_case = GoodLayerNormBackward();
    op_case.inputs[input] = tensor;
    ExpectInvalid(op_case, parameter);
  };
  expect(0, Floats({1, 2, 3, 4}), "grad_out");
  expect(2, Floats({1}), "mean");
  expect(3, Floats({1, 2, 3}), "rstd");
  expect(3, Pair(1, 2, DType::kBFloat16), "rstd");
  expect(4, Floats({1, 2, 3}), "weight");
  expect(5, Floats({1}), "bias");
  expect(5, Pair(1, 2, DType::kFloat16), "bias");
  ExpectInvalid(GoodLayerNormBackward({true, true}), "output_mask");
}

TEST(RmsNormTest, IsTheFormula) {
  OpCase op_case = GoodRmsNorm();
  op_case.inputs[0] = TestTensor::Of(DType::kFloat32, {2, 2}, {1, 7, -5, 5});
  const auto outputs = RowNormOutputs(op_case);
  EXPECT_THAT(outputs[0].Values(), Pointwise(FloatEq(), {2.f, 7.f, -10.f, 5.f}));
  EXPECT_THAT(outputs[1].Values(), Pointwise(FloatEq(), {0.2f, 0.2f}));
  EXPECT_EQ(outputs[1].desc().shape, (Dims{2, 1}));
}

TEST(RmsNormTest, RstdIsFloat32WhateverTheInput) {
  OpCase op_case = GoodRmsNorm();
  op_case.inputs[0] = RowsOfTwo(DType::kFloat16);
  const auto outputs = RowNormOutputs(op_case);
  EXPECT_EQ(outputs[0].desc().dtype, DType::kFloat16);
  EXPECT_EQ(outputs[1].desc().dtype, DType::kFloat32);
}

TEST(RmsNormTest, AnInfiniteElementIsNoNumberBesideZeros) {
  OpCase op_case = GoodRmsNorm();
  op_case.inputs[0] =
      TestTensor::Of(DType::kFloat32, {1, 2}, {1, std::numeric_limits<double>::infinity()});
  const auto outputs = RowNormOutputs(op_case);
  EXPECT_EQ(outputs[0].At(0), 0);
  EXPECT_THAT(outputs[0].At(1), IsNan());
  EXPECT_THAT(outputs[1].Values(), ElementsAre(0));
}

TEST(RmsNormTest, RefusesWhatDoesNotFit) {
  ExpectInvalid(GoodRmsNorm(-1), "epsilon");
  OpCase op_case = GoodRmsNorm();
  op_case.inputs[1] = Floats({1, 2, 3});
  ExpectInvalid(op_case, "gamma");
  op_case.inputs[1] = TestTensor::Full(DType::kFloat32, {}, 1);
  ExpectInvalid(op_case, "gamma");
  op_case.inputs[1] = Pair(1, 2, DType::kBFloat16);
  ExpectInvalid(op_case, "gamma");
  op_case = GoodRmsNorm();
  op_case.output_dtypes = {DType::kFloat32, DType::kFloat16};
  ExpectInvalid(op_case, "rstd");
}

// dx = (dy·γ − x·r·mean(dy·γ·x·r))·r: dy·γ = {2, 8}, x·r = {0.5, 1.5}, the mean is 6.5.
TEST(RmsNormGradTest, IsTheFormula) {
  const auto outputs = RowNormOutputs(GoodRmsNormGrad());
  EXPECT_THAT(outputs[0].Values(), ElementsAre(-0.625, -0.875));
  EXPECT_THAT(outputs[1].Values(), ElementsAre(0.5, 3));
  EXPECT_EQ(outputs[1].desc().shape, (Dims{2}));
}

TEST(RmsNormGradTest, TheGradientOfGammaIsFloat32) {
  OpCase op_case = GoodRmsNormGrad();
  for (const size_t input : {0, 1, 3})
    op_case.inputs[input] = TestTensor::Of(DType::kBFloat16, op_case.inputs[input]->desc().shape,
                                           op_case.inputs[input]->Values());
  const auto outputs = RowNormOutputs(op_case);
  EXPECT_EQ(outputs[0].desc().dtype, DType::kBFloat16);
  EXPECT_EQ(outputs[1].desc().dtype, DType::kFloat32);
}

TEST(RmsNormGradTest, RefusesWhatDoesNotFit) {
  const auto expect = [](size_t input, const TestTensor& tensor, std::string_view parameter) {
    OpCase op_case = GoodRmsNormGrad();
    op_case.inputs[input] = tensor;
    ExpectInvalid(op_case, parameter);
  };
  expect(0, Floats({1, 2}), "dy");
  expect(2, Floats({1, 2}), "rstd");
  expect(2, TestTensor::Of(DType::kFloat16, {1, 1}, {1}), "rstd");
  expect(3, Floats({1}), "gamma");
}

}  // namespace
}  // namespace opserve::testing
