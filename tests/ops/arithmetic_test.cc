// Add, Sub, Mul and Div: values and rules that the contract states.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/limit_values.h"
#include "tests/support/calls.h"

namespace opserve::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::NanSensitiveDoubleEq;

TEST(ArithmeticTest, ASumIsRoundedOnce) {
  // 1 - 3 * f32(1/3) is -2^-25 before rounding; in two steps it would be 0.
  EXPECT_THAT(*FirstOutput(CallOf("Sub", {Floats({1}), Floats({1.0F / 3.0F})}, {3.0})),
              ElementsAre(-0x1p-25));
  EXPECT_THAT(*FirstOutput(CallOf("Div", {Floats({1, 0, -1}), Floats({0, 0, 0})}, {})),
              ElementsAre(kInfinity, NanSensitiveDoubleEq(kNaN), -kInfinity));
}

}  // namespace
}  // namespace opserve::testing
