// SmoothL1Loss and SmoothL1LossBackward: values stated by the contract, finite differences, and the
// order of the checks.
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
using ::testing::NanSensitiveDoubleEq;

OpCase Backward(TestTensor grad, TestTensor self, TestTensor target, int64_t reduction,
                double beta) {
  return CallOf("SmoothL1LossBackward", {std::move(grad), std::move(self), std::move(target)},
                {reduction, beta});
}

TEST(SmoothL1LossBackwardTest, TheSampleOfTheAclnnPage) {
  const TestTensor ones = TestTensor::Full(DType::kFloat32, {4, 2}, 1);
  const TestTensor self = TestTensor::Of(DType::kFloat32, {4, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_THAT(*FirstOutput(Backward(ones, self, ones, 0, 1)), ElementsAre(-1, 0, 1, 1, 1, 1, 1, 1));
}

TEST(SmoothL1LossBackwardTest, IsLinearInside) {
  EXPECT_THAT(*FirstOutput(Backward(Floats({4}), Floats({0.5, -1, 1.5, 2, -2}), Floats({0}), 0, 2)),
              ElementsAre(1, -2, 3, 4, -4));
}

TEST(SmoothL1LossBackwardTest, BetaZeroIsL1) {
  EXPECT_THAT(*FirstOutput(Backward(Floats({2}), Floats({3, 0, -3, kNaN}), Floats({0}), 2, 0)),
              ElementsAre(2, 0, -2, 0));
}

TEST(SmoothL1LossBackwardTest, NaNStaysNaN) {
  EXPECT_THAT(
      *FirstOutput(Backward(Floats({1}), Floats({kNaN, kInfinity}), Floats({0, kInfinity}), 0, 1)),
      ElementsAre(NanSensitiveDoubleEq(kNaN), NanSensitiveDoubleEq(kNaN)));
}

TEST(SmoothL1LossBackwardTest, InfiniteBetaLeavesOnlyInfinitiesOutside) {
  EXPECT_THAT(*FirstOutput(Backward(Floats({1}), Floats({5, kInfinity, -kInfinity}), Floats({0}), 0,
                                    kInfinity)),
              ElementsAre(0, 1, -1));
}

TEST(SmoothL1LossBackwardTest, AgreesWithFiniteDifferencesOfTheLoss) {
  Rng rng = MakeRng(1);
  const TestTensor self = TestTensor::Random(DType::kFloat32, {50}, rng);
  const TestTensor target = TestTensor::Random(DType::kFloat32, {50}, rng);
  const double step =
      1.0 / 64;  // a power of two: self ± step is exact enough, the loss is quadratic at most
  const auto loss = [&](double shift) {
    std::vector<double> shifted = self.Values();
    for (double& value : shifted) value += shift;
    return *FirstOutput(CallOf("SmoothL1Loss", {Floats(shifted), target}, {int64_t{0}, 0.5}));
  };
  const std::vector<double> above = loss(step);
  const std::vector<double> below = loss(-step);
  const std::vector<double> gradient = *FirstOutput(Backward(Floats({1}), self, target, 0, 0.5));
  for (size_t i = 0; i < gradient.size(); ++i) {
    // Across the bend at ±beta the difference is off by up to step / (2 beta).
    EXPECT_NEAR(gradient[i], (above[i] - below[i]) / (2 * step), step + 1e-4) << i;
  }
}

TEST(SmoothL1LossBackwardTest, ChecksComeInTheirOrder) {
  const TestTensor rank9 = TestTensor::Full(DType::kFloat32, {1, 1, 1, 1, 1, 1, 1, 1, 1}, 1);
  const TestTensor i32 = TestTensor::Full(DType::kInt32, {2}, 1);
  const TestTensor two = Floats({1, 2});
  const TestTensor three = Floats({1, 2, 3});
  const auto plan = [](const OpCase& op_case) { return PlanCase(op_case).status(); };
  ExpectError(plan(CallOf("SmoothL1LossBackward", {rank9, i32, std::nullopt}, {int64_t{7}, -1.0})),
              kParamNullptr, "target");
  ExpectError(plan(Backward(rank9, i32, three, 7, -1)), kParamInvalid, "self");
  ExpectError(plan(Backward(rank9, two, three, 7, -1)), kParamInvalid, "grad_out");
  ExpectError(plan(Backward(two, two, three, 7, -1)), kParamInvalid, "reduction");
  ExpectError(plan(Backward(two, two, three, 0, -1)), kParamInvalid, "beta");
  ExpectError(plan(Backward(two, two, three, 0, kNaN)), kParamInvalid, "beta");
  ExpectError(plan(Backward(two, two, three, 0, 1)), kParamInvalid, "target");
}

TEST(SmoothL1LossBackwardTest, ErrorsNameTheOtherInputs) {
  const auto refusal = [](const OpCase& op_case) {
    return GetErrorDetail(PlanCase(op_case).status()).value_or(ErrorDetail());
  };
  const TestTensor two = Floats({1, 2});
  const TestTensor f64 = TestTensor::Full(DType::kFloat64, {2}, 1);
  EXPECT_EQ(refusal(Backward(Floats({1}), two, Floats({1, 2, 3}), 0, 1)).want,
            "a shape that broadcasts with [2] (grad_out and self)");
  EXPECT_EQ(refusal(Backward(f64, two, f64, 0, 1)).got, "float64, like target");
  EXPECT_EQ(refusal(Backward(two, two, f64, 0, 1)).got, "float64");
}

TEST(SmoothL1LossBackwardTest, AProductTakesItsOwnDtypesOnly) {
  const TestTensor bf16 = TestTensor::Full(DType::kBFloat16, {2}, 1);
  const OpCase op_case = Backward(bf16, bf16, bf16, 0, 1);
  EXPECT_THAT(PlanCase(op_case, Profile::kAtlasA2), IsOk());
  ExpectInvalid(op_case, "grad_out", Profile::kAtlasTraining);
  ExpectInvalid(op_case, "grad_out", Profile::kAtlasInference);
}

TEST(SmoothL1LossTest, Reduces) {
  const auto loss = [](int64_t reduction) {
    return *FirstOutput(
        CallOf("SmoothL1Loss", {Floats({1, -4, 0}), Floats({0})}, {reduction, 2.0}));
  };
  EXPECT_THAT(loss(0), ElementsAre(0.25, 3, 0));
  EXPECT_THAT(loss(2), ElementsAre(3.25));
  EXPECT_THAT(loss(1), ElementsAre(static_cast<double>(static_cast<float>(3.25 / 3))));
}

}  // namespace
}  // namespace opserve::testing
