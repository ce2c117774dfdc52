// What the contract states of the pooling operators.
#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/calls.h"
#include "tests/support/errors.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing::pool_test {
namespace {

using Ints = std::vector<int64_t>;
using ::testing::ElementsAre;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TestTensor Plane(const Dims& shape, const std::vector<double>& values) {
  return TestTensor::Of(DType::kFloat32, shape, values);
}

OpCase MaxPool(const TestTensor& self, Ints kernel, Ints stride, Ints padding, Ints dilation,
               bool ceil_mode) {
  return CallOf(
      "MaxPool2dWithIndices", {self},
      {std::move(kernel), std::move(stride), std::move(padding), std::move(dilation), ceil_mode});
}

OpCase AvgPool(const TestTensor& self, Ints kernel, Ints stride, Ints padding, bool ceil_mode,
               bool count_padding, int64_t divisor) {
  return CallOf("AvgPool2d", {self},
                {std::move(kernel), std::move(stride), std::move(padding), ceil_mode, count_padding,
                 divisor, int64_t{0}});
}

OpCase MaxPoolBackward(const TestTensor& gradient, const TestTensor& self,
                       const TestTensor& indices) {
  return CallOf("MaxPool2dWithIndicesBackward", {gradient, self, indices},
                {Ints{2}, Ints{1}, Ints{0}, Ints{1}, false});
}

TEST(MaxPoolTest, TheFirstOfEqualElementsAndTheLastNanCount) {
  const double nan = std::nan("");
  const absl::StatusOr<std::vector<TestTensor>> outputs = AllOutputs(
      MaxPool(Plane({1, 2, 4}, {1, 3, nan, 0, 3, 3, nan, -kInfinity}), {2}, {1}, {0}, {1}, false));
  ASSERT_THAT(outputs, IsOk());
  EXPECT_EQ((*outputs)[0].At(0), 3);
  EXPECT_TRUE(std::isnan((*outputs)[0].At(1)));
  EXPECT_TRUE(std::isnan((*outputs)[0].At(2)));
  EXPECT_THAT((*outputs)[1].Values(), ElementsAre(1, 6, 6));
  EXPECT_EQ((*outputs)[1].desc().dtype, DType::kInt32);
}

TEST(MaxPoolTest, InfinitiesHaveTheirPlace) {
  const TestTensor low = TestTensor::Full(DType::kFloat32, {1, 2, 2}, -kInfinity);
  const auto outputs = AllOutputs(MaxPool(low, {2}, {2}, {1}, {1}, false));
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT((*outputs)[0].Values(), ElementsAre(-kInfinity, -kInfinity, -kInfinity, -kInfinity));
  EXPECT_THAT((*outputs)[1].Values(), ElementsAre(0, 1, 2, 3));
}

TEST(MaxPoolTest, AWindowWithoutElementsHasNoPlace) {
  const auto outputs = AllOutputs(MaxPool(Plane({1, 1, 1}, {5}), {2}, {1}, {1}, {2}, false));
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT((*outputs)[0].Values(), ElementsAre(-kInfinity));
  EXPECT_THAT((*outputs)[1].Values(), ElementsAre(-1));
}

TEST(MaxPoolTest, GradientsOfOnePlaceAreAdded) {
  const TestTensor self = Plane({1, 2, 4}, {0, 9, 9, 0, 0, 0, 0, 0});
  const TestTensor gradient = Plane({1, 1, 3}, {1, 2, 4});
  const auto sums = [&](const std::vector<double>& indices) {
    return FirstOutput(
        MaxPoolBackward(gradient, self, TestTensor::Of(DType::kInt64, {1, 1, 3}, indices)));
  };
  EXPECT_THAT(*sums({1, 1, 2}), ElementsAre(0, 3, 4, 0, 0, 0, 0, 0));
  // Of other windows' elements, as PyTorch has it; and of none.
  EXPECT_THAT(*sums({7, 7, -1}), ElementsAre(0, 0, 0, 0, 0, 0, 0, 3));
}

TEST(MaxPoolTest, IndicesOutsideOfThePlaneAreRefused) {
  const TestTensor self = Plane({1, 2, 4}, {0, 9, 9, 0, 0, 0, 0, 0});
  const TestTensor gradient = Plane({1, 1, 3}, {1, 2, 4});
  for (const DType dtype : {DType::kInt32, DType::kInt64}) {
    for (const double bad : {8.0, -2.0, 2147483647.0, -2147483648.0}) {
      const absl::Status status =
          FirstOutput(
              MaxPoolBackward(gradient, self, TestTensor::Of(dtype, {1, 1, 3}, {0, bad, bad})))
              .status();
      ExpectError(status, ErrorReason::kOutOfRange, "indices");
      EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(" at 1"));
    }
  }
}

TEST(MaxPoolTest, ProductsHaveInt32AndNoDilation) {
  OpCase pool = MaxPool(TestTensor::Full(DType::kFloat32, {1, 8, 8}, 1), {2}, {}, {0}, {2}, false);
  EXPECT_THAT(PlanCase(pool).status(), IsOk());
  ExpectError(PlanCase(pool, Profile::kAtlasA2).status(), ErrorReason::kOutOfRange, "dilation");
  pool.attributes[3] = Ints{1};
  EXPECT_THAT(PlanCase(pool, Profile::kAtlasA2).status(), IsOk());
  pool.output_dtypes = {DType::kUndefined, DType::kInt64};
  EXPECT_THAT(PlanCase(pool).status(), IsOk());
  ExpectError(PlanCase(pool, Profile::kAtlasA2).status(), ErrorReason::kDTypeUnsupported,
              "indices");
}

TEST(AvgPoolTest, DivisorsAreThoseThatAreAskedFor) {
  const TestTensor ones = TestTensor::Full(DType::kFloat32, {1, 3, 3}, 1);
  const auto corner = [&](bool count_padding, int64_t divisor) {
    return FirstOutput(AvgPool(ones, {2}, {}, {1}, false, count_padding, divisor))->front();
  };
  EXPECT_EQ(corner(true, 0), 0.25);
  EXPECT_EQ(corner(false, 0), 1);
  EXPECT_EQ(corner(true, 8), 0.125);
  EXPECT_EQ(corner(true, -1), -1);
}

TEST(AvgPoolTest, ALastWindowMayJutOut) {
  const TestTensor row = Plane({1, 1, 5}, {1, 2, 3, 4, 6});
  EXPECT_THAT(*FirstOutput(AvgPool(row, {1, 2}, {1, 2}, {0}, false, true, 0)),
              ElementsAre(1.5, 3.5));
  EXPECT_THAT(*FirstOutput(AvgPool(row, {1, 2}, {1, 2}, {0}, true, true, 0)),
              ElementsAre(1.5, 3.5, 6));
  // Not where it would begin behind the plane.
  EXPECT_THAT(*FirstOutput(AvgPool(row, {1, 2}, {1, 6}, {0, 1}, true, false, 0)), ElementsAre(1));
}

TEST(PoolTest, WindowsAreChecked) {
  const TestTensor self = TestTensor::Full(DType::kFloat32, {1, 4, 4}, 1);
  const auto status = [](const OpCase& op_case) { return PlanCase(op_case).status(); };
  const auto pool = [&](Ints kernel, Ints stride, Ints padding) {
    return status(
        AvgPool(self, std::move(kernel), std::move(stride), std::move(padding), false, true, 0));
  };
  EXPECT_THAT(pool({2}, {}, {1}), IsOk());
  ExpectError(pool({2}, {}, {2}), ErrorReason::kOutOfRange, "padding");
  ExpectError(pool({3, 1}, {}, {1}), ErrorReason::kOutOfRange, "padding");
  ExpectError(pool({0, 2}, {}, {0}), ErrorReason::kOutOfRange, "kernel_size");
  ExpectError(pool({2}, {2, 0}, {0}), ErrorReason::kOutOfRange, "stride");
  ExpectError(pool({2}, {1}, {-1}), ErrorReason::kOutOfRange, "padding");
  ExpectError(pool({int64_t{1} << 31}, {1}, {0}), ErrorReason::kOutOfRange, "kernel_size");
  ExpectError(pool({5}, {1}, {0}), ErrorReason::kOutOfRange, "kernel_size");
  ExpectError(pool({}, {1}, {0}), ErrorReason::kInvalidParameter, "kernel_size");
  ExpectError(pool({1, 1, 1}, {1}, {0}), ErrorReason::kInvalidParameter, "kernel_size");
  ExpectError(pool({1}, {1, 1, 1}, {0}), ErrorReason::kInvalidParameter, "stride");
  ExpectError(pool({1}, {1}, {}), ErrorReason::kInvalidParameter, "padding");
  ExpectError(status(MaxPool(self, {2}, {}, {0}, {4}, false)), ErrorReason::kOutOfRange,
              "kernel_size");
  ExpectError(status(MaxPool(self, {2}, {}, {0}, {0}, false)), ErrorReason::kOutOfRange,
              "dilation");
}

TEST(PoolTest, ShapesAreChecked) {
  const auto pool = [](const Dims& shape) {
    return PlanCase(
               AvgPool(TestTensor::Full(DType::kFloat32, shape, 1), {1}, {}, {0}, false, true, 0))
        .status();
  };
  ExpectError(pool({4, 4}), ErrorReason::kShapeMismatch, "self");
  ExpectError(pool({1, 1, 1, 4, 4}), ErrorReason::kShapeMismatch, "self");
  ExpectError(pool({1, 0, 4}), ErrorReason::kShapeMismatch, "self");
  EXPECT_THAT(pool({0, 4, 4}), IsOk());
  const auto backward = [](const Dims& gradient) {
    return PlanCase(CallOf("AdaptiveAvgPool2dBackward",
                           {TestTensor::Full(DType::kFloat32, gradient, 1),
                            TestTensor::Full(DType::kFloat32, {2, 4, 4}, 1)},
                           {}))
        .status();
  };
  EXPECT_THAT(backward({2, 9, 1}), IsOk());
  ExpectError(backward({3, 4, 4}), ErrorReason::kShapeMismatch, "grad_output");
  ExpectError(backward({1, 2, 4, 4}), ErrorReason::kShapeMismatch, "grad_output");
}

TEST(AdaptivePoolTest, NoGradientsAreZeros) {
  const OpCase call = CallOf("AdaptiveAvgPool2dBackward",
                             {TestTensor::Full(DType::kFloat32, {1, 0, 2}, 1),
                              TestTensor::Full(DType::kFloat32, {1, 2, 2}, 1)},
                             {});
  EXPECT_THAT(*FirstOutput(call), ElementsAre(0, 0, 0, 0));
}

}  // namespace
}  // namespace opserve::testing::pool_test
