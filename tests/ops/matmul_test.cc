// Matmul, BatchMatMul and Addmm: values stated by the contract, and the order of its checks.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/limit_values.h"
#include "tests/support/calls.h"
#include "tests/support/compare.h"
#include "tests/support/errors.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::NanSensitiveDoubleEq;

TestTensor Matrix(const Dims& shape, const std::vector<double>& values) {
  return TestTensor::Of(DType::kFloat32, shape, values);
}

OpCase Matmul(TestTensor self, TestTensor mat2) {
  return CallOf("Matmul", {std::move(self), std::move(mat2)}, {int64_t{0}});
}

OpCase Addmm(TestTensor self, TestTensor mat1, TestTensor mat2, double beta, double alpha) {
  return CallOf("Addmm", {std::move(self), std::move(mat1), std::move(mat2)},
                {beta, alpha, int64_t{0}});
}

Dims ResultShape(const OpCase& op_case) {
  const absl::StatusOr<OpCall> call = PlanCase(op_case);
  EXPECT_THAT(call, IsOk());
  return call.ok() ? call->output(0).desc.shape : Dims{-1};
}

TestTensor Empty(const Dims& shape) {
  return TestTensor(TensorDesc::Dense(DType::kFloat32, shape));
}

TEST(MatmulTest, IsRowsTimesColumns) {
  const auto values =
      FirstOutput(Matmul(Matrix({2, 3}, {1, 2, 3, 4, 5, 6}), Matrix({3, 2}, {1, 0, 0, 1, 2, 2})));
  ASSERT_THAT(values, IsOk());
  EXPECT_THAT(*values, ElementsAre(7, 8, 16, 17));
}

TEST(MatmulTest, HasTheRankOfItsInputs) {
  EXPECT_EQ(ResultShape(Matmul(Empty({3}), Empty({3}))), Dims{});
  EXPECT_EQ(ResultShape(Matmul(Empty({3}), Empty({3, 4}))), Dims({4}));
  EXPECT_EQ(ResultShape(Matmul(Empty({2, 3}), Empty({3}))), Dims({2}));
  EXPECT_EQ(ResultShape(Matmul(Empty({3}), Empty({5, 3, 4}))), Dims({5, 4}));
  EXPECT_EQ(ResultShape(Matmul(Empty({5, 2, 3}), Empty({3}))), Dims({5, 2}));
  EXPECT_EQ(ResultShape(Matmul(Empty({5, 1, 2, 3}), Empty({6, 3, 4}))), Dims({5, 6, 2, 4}));
}

TEST(MatmulTest, WithoutTermsIsZero) {
  const auto values = FirstOutput(Matmul(Empty({2, 0}), Empty({0, 2})));
  ASSERT_THAT(values, IsOk());
  EXPECT_THAT(*values, ElementsAre(0, 0, 0, 0));
}

TEST(MatmulTest, ZeroTimesInfinityIsNaN) {
  const auto values =
      FirstOutput(Matmul(Matrix({2, 2}, {0, 1, 1, 1}), Matrix({2, 2}, {kInfinity, 1, 1, kNaN})));
  ASSERT_THAT(values, IsOk());
  EXPECT_THAT(*values, ElementsAre(NanSensitiveDoubleEq(kNaN), NanSensitiveDoubleEq(kNaN),
                                   kInfinity, NanSensitiveDoubleEq(kNaN)));
}

TEST(MatmulTest, TransposingAViewChangesNoBit) {
  Rng rng(3);
  const TestTensor a = TestTensor::Random(DType::kFloat32, {70, 300}, rng);
  const TestTensor b = TestTensor::Random(DType::kFloat32, {300, 40}, rng);
  const auto plain = AllOutputs(Matmul(a, b));
  const auto transposed = AllOutputs(Matmul(a.WithLayout({1, 70}, 0), b.WithLayout({1, 300}, 5)));
  ASSERT_THAT(plain, IsOk());
  ASSERT_THAT(transposed, IsOk());
  EXPECT_TRUE(SameBits((*plain)[0], (*transposed)[0]));
}

TEST(MatmulTest, WhatDoesNotGoTogetherIsRefused) {
  ExpectInvalid(Matmul(Empty({}), Empty({3})), "self");
  ExpectInvalid(Matmul(Empty({3}), Empty({})), "mat2");
  ExpectInvalid(Matmul(Empty({2, 3}), Empty({2, 3})), "mat2");
  ExpectInvalid(Matmul(Empty({2, 1, 3}), Empty({5, 3, 1})), "mat2");
  constexpr int64_t kHuge = int64_t{1} << 40;
  OpCase huge = Matmul(Empty({0, 3}), Empty({3, 0}));
  OpCall call = MakeOpCall(*huge.op, Profile::kHost);
  call.inputs = {TensorDesc::Dense(DType::kFloat32, Dims{kHuge, 1}),
                 TensorDesc::Dense(DType::kFloat32, Dims{1, kHuge})};
  ExpectError(PlanCall(call), kParamInvalid, "mat2");
}

TEST(BatchMatMulTest, TakesBatchesOfMatricesOnly) {
  const auto plan = [](const Dims& self, const Dims& mat2) {
    return PlanCase(CallOf("BatchMatMul", {Empty(self), Empty(mat2)}, {int64_t{0}})).status();
  };
  EXPECT_THAT(plan({2, 3, 4}, {2, 4, 5}), IsOk());
  ExpectError(plan({3, 4}, {2, 4, 5}), kParamInvalid, "self");
  ExpectError(plan({2, 3, 4}, {4, 5}), kParamInvalid, "mat2");
  ExpectError(plan({1, 3, 4}, {2, 4, 5}), kParamInvalid, "mat2");
  ExpectError(plan({2, 3, 4}, {2, 3, 5}), kParamInvalid, "mat2");
}

TEST(AddmmTest, AddsTheProductToWhatIsGiven) {
  const auto values =
      FirstOutput(Addmm(Floats({10, 20}), Matrix({2, 1}, {1, 2}), Matrix({1, 2}, {3, 4}), 0.5, 2));
  ASSERT_THAT(values, IsOk());
  EXPECT_THAT(*values, ElementsAre(11, 18, 17, 26));
}

TEST(AddmmTest, WithBetaZeroWhatIsGivenDoesNotCount) {
  const auto values = FirstOutput(
      Addmm(Floats({kNaN, kInfinity}), Matrix({2, 1}, {1, 2}), Matrix({1, 2}, {3, 4}), 0, 1));
  ASSERT_THAT(values, IsOk());
  EXPECT_THAT(*values, ElementsAre(3, 4, 6, 8));
}

TEST(AddmmTest, WhatDoesNotGoTogetherIsRefused) {
  const auto plan = [](const Dims& self, const Dims& mat1, const Dims& mat2) {
    return PlanCase(Addmm(Empty(self), Empty(mat1), Empty(mat2), 1, 1)).status();
  };
  EXPECT_THAT(plan({}, {2, 3}, {3, 4}), IsOk());
  ExpectError(plan({3}, {2, 3}, {3, 4}), kParamInvalid, "self");
  ExpectError(plan({1, 2, 4}, {2, 3}, {3, 4}), kParamInvalid, "self");
  ExpectError(plan({}, {3}, {3, 4}), kParamInvalid, "mat1");
  ExpectError(plan({}, {2, 3}, {1, 3, 4}), kParamInvalid, "mat2");
  ExpectError(plan({}, {2, 3}, {2, 4}), kParamInvalid, "mat2");
}

}  // namespace
}  // namespace opserve::testing
