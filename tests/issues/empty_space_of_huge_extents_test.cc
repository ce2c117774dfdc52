// A shape with an extent of 0 may have others whose product overflows: merging its dimensions for
// the kernel did.
#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/calls.h"
#include "tests/support/errors.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

TEST(EmptySpaceOfHugeExtentsTest, ReductionsAndMapsOfNothing) {
  const TestTensor empty = TestTensor::Of(DType::kFloat32, {64, int64_t{1} << 61, 0}, {});
  const TestTensor scalar = TestTensor::Of(DType::kFloat32, {}, {1});
  const auto mean = FirstOutput(CallOf("L1Loss", {empty, scalar}, {int64_t{1}}));
  ASSERT_THAT(mean, IsOk());
  ASSERT_EQ(mean->size(), 1u);
  EXPECT_TRUE(std::isnan(mean->front()));
  const auto none = FirstOutput(CallOf("L1LossBackward", {scalar, empty, scalar}, {int64_t{0}}));
  ASSERT_THAT(none, IsOk());
  EXPECT_TRUE(none->empty());
}

TEST(EmptySpaceOfHugeExtentsTest, SumsOverSomeDimensions) {
  const TestTensor empty = TestTensor::Of(DType::kFloat32, {64, int64_t{1} << 61, 0}, {});
  const auto run = [&empty](std::string_view op, std::vector<int64_t> dims) {
    return FirstOutput(CallOf(op, {empty}, {std::move(dims), false, {}}));
  };
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{}, {0, 1, 2}}) {
    const auto sum = run("ReduceSum", dims);
    ASSERT_THAT(sum, IsOk());
    EXPECT_THAT(*sum, ::testing::ElementsAre(0));
    const auto mean = run("Mean", dims);
    ASSERT_THAT(mean, IsOk());
    ASSERT_EQ(mean->size(), 1u);
    EXPECT_TRUE(std::isnan(mean->front()));
  }
  const auto none = run("ReduceSum", {0, 1});
  ASSERT_THAT(none, IsOk());
  EXPECT_TRUE(none->empty());
  ExpectError(run("Mean", {2}).status(), kParamInvalid, "out");
}

}  // namespace
}  // namespace opserve::testing
