// L1Loss and L1LossBackward: values stated by the contract, and the order of its checks.
#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/limit_values.h"
#include "tests/support/calls.h"
#include "tests/support/errors.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::NanSensitiveDoubleEq;

OpCase Backward(TestTensor grad, TestTensor self, TestTensor target, int64_t reduction) {
  return CallOf("L1LossBackward", {std::move(grad), std::move(self), std::move(target)},
                {reduction});
}

TEST(L1LossBackwardTest, IsTheSignTimesTheGradient) {
  const auto values =
      FirstOutput(Backward(Floats({2, 3, 5}), Floats({4, 1, 7}), Floats({1, 6, 7}), 0));
  ASSERT_THAT(values, IsOk());
  EXPECT_THAT(*values, ElementsAre(2, -3, 0));
}

TEST(L1LossBackwardTest, NaNHasSignZeroAndInfinitiesHaveTheirs) {
  const auto values =
      FirstOutput(Backward(Floats({1}), Floats({kNaN, 0, kInfinity, -kInfinity, kInfinity}),
                           Floats({0, kNaN, 0, 0, kInfinity}), 2));
  ASSERT_THAT(values, IsOk());
  EXPECT_THAT(*values, ElementsAre(0, 0, 1, -1, 0));
}

TEST(L1LossBackwardTest, MeanCountsTheBroadcastElements) {
  const TestTensor self = TestTensor::Full(DType::kFloat32, {4, 1}, 1);
  const auto values =
      FirstOutput(Backward(TestTensor::Of(DType::kFloat32, {}, {16}), self, Floats({0, 0}), 1));
  ASSERT_THAT(values, IsOk());
  EXPECT_THAT(*values, ElementsAre(2, 2, 2, 2, 2, 2, 2, 2));
}

TEST(L1LossBackwardTest, AnIntegerBesideAFloatIsFineOnTheHostOnly) {
  const OpCase op_case =
      Backward(Floats({1, 1}), TestTensor::Of(DType::kInt64, {2}, {3, -3}), Floats({0.5, 0.5}), 0);
  const auto values = FirstOutput(op_case);
  ASSERT_THAT(values, IsOk());
  EXPECT_THAT(*values, ElementsAre(1, -1));
  ExpectInvalid(op_case, "self", Profile::kAtlasA2);
}

TEST(L1LossBackwardTest, IntegersAreRoundedToThePromotedDtypeFirst) {
  // 2049 is a tie in binary16 and rounds to 2048.
  const auto values = FirstOutput(Backward(TestTensor::Of(DType::kFloat16, {1}, {1}),
                                           TestTensor::Of(DType::kInt32, {1}, {2049}),
                                           TestTensor::Of(DType::kFloat16, {1}, {2048}), 0));
  ASSERT_THAT(values, IsOk());
  EXPECT_THAT(*values, ElementsAre(0));
}

TEST(L1LossBackwardTest, ChecksComeInTheirOrder) {
  const TestTensor rank9 = TestTensor::Full(DType::kFloat32, {1, 1, 1, 1, 1, 1, 1, 1, 1}, 1);
  const TestTensor u32 = TestTensor::Full(DType::kUint32, {2}, 1);
  const TestTensor i32 = TestTensor::Full(DType::kInt32, {2}, 1);
  const TestTensor three = Floats({1, 2, 3});
  const auto plan = [](const OpCase& op_case) { return PlanCase(op_case).status(); };
  ExpectError(plan(CallOf("L1LossBackward", {rank9, u32, std::nullopt}, {int64_t{7}})),
              kParamNullptr, "target");
  ExpectError(plan(Backward(rank9, u32, three, 7)), kParamInvalid, "reduction");
  ExpectError(plan(Backward(rank9, u32, three, 0)), kParamInvalid, "self");
  ExpectError(plan(Backward(i32, i32, i32, 0)), kParamInvalid, "grad_output");
  ExpectError(plan(Backward(rank9, Floats({1, 2}), three, 0)), kParamInvalid, "grad_output");
  ExpectError(plan(Backward(Floats({1}), Floats({1, 2}), three, 0)), kParamInvalid, "target");
}

TEST(L1LossBackwardTest, AnOutputDtypeThatIsNotFloatingIsRefused) {
  OpCase op_case = Backward(Floats({1}), Floats({1}), Floats({1}), 0);
  op_case.output_dtypes = {DType::kInt32};
  const absl::Status status = PlanCase(op_case).status();
  ExpectError(status, kParamInvalid, "grad_input");
  EXPECT_THAT(std::string(status.message()), HasSubstr("int32"));
}

TEST(L1LossTest, Reduces) {
  const OpCase none = CallOf("L1Loss", {Floats({1, -2, 3}), Floats({0, 0, 5})}, {int64_t{0}});
  EXPECT_THAT(*FirstOutput(none), ElementsAre(1, 2, 2));
  const OpCase mean = CallOf("L1Loss", {Floats({1, -2, 3}), Floats({0, 0, 6})}, {int64_t{1}});
  EXPECT_THAT(*FirstOutput(mean), ElementsAre(2));
  const OpCase sum = CallOf("L1Loss", {Floats({1, -2, 3}), Floats({0, 0, 6})}, {int64_t{2}});
  EXPECT_THAT(*FirstOutput(sum), ElementsAre(6));
}

TEST(L1LossTest, EmptyHasMeanNaNAndSumZero) {
  EXPECT_THAT(*FirstOutput(CallOf("L1Loss", {Floats({}), Floats({})}, {int64_t{0}})),
              ElementsAre());
  EXPECT_THAT(*FirstOutput(CallOf("L1Loss", {Floats({}), Floats({})}, {int64_t{1}})),
              ElementsAre(NanSensitiveDoubleEq(kNaN)));
  EXPECT_THAT(*FirstOutput(CallOf("L1Loss", {Floats({}), Floats({})}, {int64_t{2}})),
              ElementsAre(0));
}

}  // namespace
}  // namespace opserve::testing
