// Hardshrink and HardshrinkBackward: values stated by the contract, and the order of its checks.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/limit_values.h"
#include "tests/support/calls.h"
#include "tests/support/errors.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing::hardshrink_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::NanSensitiveDoubleEq;

const Dims kRank9 = {1, 1, 1, 1, 1, 1, 1, 1, 3};

OpCase Forward(TestTensor self, AttributeValue lambd) {
  return CallOf("Hardshrink", {std::move(self)}, {std::move(lambd)});
}

OpCase Backward(TestTensor grad, TestTensor self, AttributeValue lambd) {
  return CallOf("HardshrinkBackward", {std::move(grad), std::move(self)}, {std::move(lambd)});
}

TestTensor Ones(DType dtype, const Dims& shape) { return TestTensor::Full(dtype, shape, 1); }

// The call with an output of the caller's.
OpCall WithGivenOutput(const OpCase& op_case, DType dtype, const Dims& shape) {
  absl::StatusOr<OpCall> call = BindCase(op_case);
  EXPECT_THAT(call, IsOk());
  call->output(0).origin = OutputSlot::Origin::kGiven;
  call->output(0).desc = TensorDesc::Dense(dtype, shape);
  return *std::move(call);
}

TEST(HardshrinkBackwardTest, PassesTheGradientOutsideTheDeadZone) {
  EXPECT_THAT(
      *FirstOutput(Backward(Floats({1, 2, 3, 4, 5}), Floats({-2, -0.5, 0, 0.5, 0.75}), 0.5)),
      ElementsAre(1, 0, 0, 0, 5));
}

TEST(HardshrinkBackwardTest, ANegativeLambdaCountsAsZero) {
  const OpCase op_case = Backward(Floats({1, 2, 3}), Floats({-0.25, 0, 0.25}), -1.0);
  EXPECT_THAT(*FirstOutput(op_case), ElementsAre(1, 0, 3));
  EXPECT_THAT(*FirstOutput(Backward(Floats({1, 2}), Floats({-0.0, 1}), -kInfinity)),
              ElementsAre(0, 2));
}

TEST(HardshrinkBackwardTest, NaNLetsPassInEveryPosition) {
  // Longer than any vector and no multiple of one: PyTorch's tail differs from its body.
  const TestTensor self = TestTensor::Full(DType::kFloat32, {37}, kNaN);
  const TestTensor zeros = TestTensor::Full(DType::kFloat32, {37}, 0);
  const TestTensor grad = TestTensor::Full(DType::kFloat32, {37}, 3);
  const std::vector<double> threes(37, 3.0);
  EXPECT_EQ(*FirstOutput(Backward(grad, self, 0.5)), threes);
  EXPECT_EQ(*FirstOutput(Backward(grad, self, kInfinity)), threes);
  EXPECT_EQ(*FirstOutput(Backward(grad, zeros, kNaN)), threes);
}

TEST(HardshrinkBackwardTest, AnInfiniteOrNaNGradientInTheDeadZoneGivesZero) {
  const TestTensor grad = Floats({kInfinity, -kInfinity, kNaN, kInfinity, kNaN});
  EXPECT_THAT(*FirstOutput(Backward(grad, Floats({0.5, -0.5, 0, 1, 1}), 0.5)),
              ElementsAre(0, 0, 0, kInfinity, NanSensitiveDoubleEq(kNaN)));
}

TEST(HardshrinkBackwardTest, AnInfiniteLambdaHoldsInfinitiesToo) {
  EXPECT_THAT(
      *FirstOutput(Backward(Floats({1}), Floats({5, kInfinity, -kInfinity, kNaN}), kInfinity)),
      ElementsAre(0, 0, 0, 1));
}

TEST(HardshrinkBackwardTest, LambdaIsAnyRealScalar) {
  const TestTensor self = Floats({0.5, 1, 1.5});
  EXPECT_THAT(*FirstOutput(Backward(Floats({7}), self, int64_t{1})), ElementsAre(0, 0, 7));
  EXPECT_THAT(*FirstOutput(Backward(Floats({7}), self, true)), ElementsAre(0, 0, 7));
  EXPECT_THAT(*FirstOutput(Backward(Floats({7}), self, false)), ElementsAre(7, 7, 7));
  EXPECT_THAT(*FirstOutput(Backward(Floats({7}), self, 0.75)), ElementsAre(0, 7, 7));
  ExpectInvalid(Backward(Floats({7}), self, std::vector<int64_t>{1}), "lambd");
}

TEST(HardshrinkBackwardTest, LambdaIsRoundedToThePromotedDtype) {
  // binary16 has 1 and 1 + 2^-10 for neighbours; 1 + 2^-11 is the tie between them, to the even 1.
  const double tie = 1 + 0x1p-11;
  const TestTensor half = TestTensor::Of(DType::kFloat16, {2}, {1, 1 + 0x1p-10});
  EXPECT_THAT(*FirstOutput(Backward(Ones(DType::kFloat16, {2}), half, tie + 0x1p-20)),
              ElementsAre(0, 0));
  EXPECT_THAT(*FirstOutput(Backward(Ones(DType::kFloat16, {2}), half, tie)), ElementsAre(0, 1));
  // Beside a float the promoted dtype is float32, which holds it.
  const TestTensor self = Floats({1, 1 + 0x1p-11, 1 + 0x1p-10});
  EXPECT_THAT(*FirstOutput(Backward(Ones(DType::kFloat16, {3}), self, tie)), ElementsAre(0, 0, 1));
}

TEST(HardshrinkBackwardTest, PromotesAndBroadcasts) {
  const OpCase op_case = Backward(Ones(DType::kBFloat16, {2, 1}),
                                  TestTensor::Of(DType::kFloat16, {3}, {-1, 0.25, 2}), 0.5);
  const absl::StatusOr<std::vector<TestTensor>> outputs = AllOutputs(op_case);
  ASSERT_THAT(outputs, IsOk());
  EXPECT_EQ((*outputs)[0].desc().dtype, DType::kFloat32);
  EXPECT_EQ((*outputs)[0].desc().shape, (Dims{2, 3}));
  EXPECT_THAT((*outputs)[0].Values(), ElementsAre(1, 0, 1, 1, 0, 1));
}

TEST(HardshrinkBackwardTest, TheOutputMayBeNarrower) {
  OpCase op_case = Backward(Floats({1 + 0x1p-11, 1e6}), Floats({1, 1}), 0.5);
  op_case.output_dtypes = {DType::kFloat16};
  EXPECT_THAT(*FirstOutput(op_case), ElementsAre(1, kInfinity));
}

TEST(HardshrinkBackwardTest, RanksZeroToEight) {
  EXPECT_THAT(*FirstOutput(Backward(Ones(DType::kFloat32, {}), Ones(DType::kFloat32, {}), 0.5)),
              ElementsAre(1));
  const Dims rank8 = {1, 2, 1, 1, 1, 1, 1, 2};
  const OpCase op_case = Backward(Ones(DType::kFloat32, rank8), Floats({1, 0}), 0.5);
  EXPECT_THAT(*FirstOutput(op_case), ElementsAre(1, 0, 1, 0));
}

TEST(HardshrinkBackwardTest, AnEmptyTensorBesideAMismatchIsForTheCallerOfAGivenOutput) {
  const OpCase op_case = Backward(Floats({}), Floats({1, 2, 3}), 0.5);
  ExpectInvalid(op_case, "self");
  // The output is the caller's: nothing is compared, and nothing is written.
  OpCall call = WithGivenOutput(op_case, DType::kFloat32, {7});
  ASSERT_THAT(PlanCall(call), IsOk());
  EXPECT_FALSE(call.output(0).wanted);
  EXPECT_TRUE(call.makes_nothing());
}

TEST(HardshrinkBackwardTest, WhatComesBeforeTheEmptyShortcutStillFails) {
  const TestTensor i32 = TestTensor::Full(DType::kInt32, {0}, 1);
  const auto plan = [](const OpCase& op_case, DType output) {
    OpCall call = WithGivenOutput(op_case, output, {7});
    return PlanCall(call);
  };
  ExpectError(plan(Backward(i32, Floats({1}), 0.5), DType::kFloat32), kParamInvalid, "grad_output");
  ExpectError(plan(Backward(Floats({}), Floats({1}), 0.5), DType::kInt32), kParamInvalid,
              "grad_input");
  ExpectError(plan(Backward(Floats({}), Ones(DType::kFloat32, kRank9), 0.5), DType::kFloat32),
              kParamInvalid, "self");
}

TEST(HardshrinkBackwardTest, EmptyGivesEmpty) {
  const absl::StatusOr<std::vector<TestTensor>> outputs =
      AllOutputs(Backward(Ones(DType::kFloat32, {2, 1}), Ones(DType::kFloat32, {2, 0}), 0.5));
  ASSERT_THAT(outputs, IsOk());
  EXPECT_EQ((*outputs)[0].desc().shape, (Dims{2, 0}));
  const OpCase one_side = Backward(Floats({}), Floats({1}), 0.5);
  EXPECT_THAT(*FirstOutput(one_side), IsEmpty());
}

TEST(HardshrinkBackwardTest, AGivenOutputHasTheBroadcastShape) {
  OpCall call = WithGivenOutput(Backward(Floats({1, 2}), Floats({1}), 0.5), DType::kFloat32, {3});
  ExpectError(PlanCall(call), kParamInvalid, "grad_input");
}

TEST(HardshrinkBackwardTest, ChecksComeInTheirOrder) {
  const TestTensor rank9 = Ones(DType::kFloat32, kRank9);
  const TestTensor i32 = Ones(DType::kInt32, {2});
  const auto plan = [](const OpCase& op_case) { return PlanCase(op_case).status(); };
  ExpectError(plan(CallOf("HardshrinkBackward", {i32, std::nullopt}, {0.5})), kParamNullptr,
              "self");
  ExpectError(plan(CallOf("HardshrinkBackward", {std::nullopt, i32}, {std::monostate()})),
              kParamNullptr, "grad_output");
  ExpectError(plan(Backward(i32, rank9, std::monostate())), kParamNullptr, "lambd");
  ExpectError(plan(Backward(rank9, i32, 0.5)), kParamInvalid, "self");
  OpCase to_int = Backward(rank9, Floats({1, 2, 3}), 0.5);
  to_int.output_dtypes = {DType::kInt32};
  ExpectError(plan(to_int), kParamInvalid, "grad_input");
  ExpectError(plan(Backward(rank9, Floats({1, 2}), 0.5)), kParamInvalid, "grad_output");
  ExpectError(plan(Backward(Floats({1, 2}), Floats({1, 2, 3}), 0.5)), kParamInvalid, "self");
}

TEST(HardshrinkBackwardTest, AMissingOutputComesFirst) {
  absl::StatusOr<OpCall> call =
      BindCase(CallOf("HardshrinkBackward", {std::nullopt, std::nullopt}, {0.5}));
  ASSERT_THAT(call, IsOk());
  call->output(0).origin = OutputSlot::Origin::kMissing;
  ExpectError(PlanCall(*call), kParamNullptr, "grad_input");
}

TEST(HardshrinkBackwardTest, OnlyTheThreeFloats) {
  for (const DType dtype : {DType::kFloat64, DType::kInt32, DType::kInt64, DType::kBool}) {
    const OpCase op_case = Backward(Ones(dtype, {2}), Ones(dtype, {2}), 0.5);
    ExpectInvalid(op_case, "grad_output");
  }
}

TEST(HardshrinkBackwardTest, AProductTakesItsOwnDtypesOnly) {
  const OpCase bf16 = Backward(Ones(DType::kBFloat16, {2}), Ones(DType::kBFloat16, {2}), 0.5);
  const OpCase f16 = Backward(Ones(DType::kFloat16, {2}), Ones(DType::kFloat16, {2}), 0.5);
  EXPECT_THAT(PlanCase(bf16, Profile::kAtlasA2), IsOk());
  EXPECT_THAT(PlanCase(bf16, Profile::kAtlasA3), IsOk());
  ExpectInvalid(bf16, "grad_output", Profile::kAtlasTraining);
  EXPECT_THAT(PlanCase(f16, Profile::kAtlasTraining), IsOk());
  for (const OpCase& op_case : {f16, Forward(Floats({1}), 0.5)}) {
    const absl::Status status = PlanCase(op_case, Profile::kAtlasInference).status();
    ExpectError(status, ErrorReason::kOperatorUnsupported, "device");
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  }
}

TEST(HardshrinkTest, ZeroesTheDeadZone) {
  EXPECT_THAT(
      *FirstOutput(Forward(Floats({-2, -0.5, 0.25, 0.75, kInfinity, -kInfinity, kNaN}), 0.5)),
      ElementsAre(-2, 0, 0, 0.75, kInfinity, -kInfinity, NanSensitiveDoubleEq(kNaN)));
  EXPECT_THAT(*FirstOutput(Forward(Floats({-2, 0, 3}), -1.0)), ElementsAre(-2, 0, 3));
  EXPECT_THAT(*FirstOutput(Forward(Floats({-2, 0, 3}), kNaN)), ElementsAre(-2, 0, 3));
}

TEST(HardshrinkTest, HasTheShapeOfItsInput) {
  for (const Dims& shape : {Dims{}, Dims{0, 3}, Dims{2, 1, 2}, Dims{1, 1, 1, 1, 1, 1, 1, 2}}) {
    const auto outputs = AllOutputs(Forward(Ones(DType::kFloat16, shape), 0.5));
    ASSERT_THAT(outputs, IsOk());
    EXPECT_EQ((*outputs)[0].desc().shape, shape);
    EXPECT_EQ((*outputs)[0].desc().dtype, DType::kFloat16);
  }
}

TEST(HardshrinkTest, ChecksComeInTheirOrder) {
  const auto plan = [](const OpCase& op_case) { return PlanCase(op_case).status(); };
  ExpectError(plan(CallOf("Hardshrink", {std::nullopt}, {0.5})), kParamNullptr, "self");
  ExpectError(plan(Forward(Ones(DType::kInt32, kRank9), 0.5)), kParamInvalid, "self");
  OpCase to_bool = Forward(Ones(DType::kFloat32, kRank9), 0.5);
  to_bool.output_dtypes = {DType::kBool};
  ExpectError(plan(to_bool), kParamInvalid, "out");
  ExpectError(plan(Forward(Ones(DType::kFloat32, kRank9), 0.5)), kParamInvalid, "self");
}

}  // namespace
}  // namespace opserve::testing::hardshrink_test
