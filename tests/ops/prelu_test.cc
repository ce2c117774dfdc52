// Prelu and PreluBackward: values and rules that the contract states.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/limit_values.h"
#include "tests/support/calls.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::NanSensitiveDoubleEq;

TEST(PreluTest, ZeroAndNaNBelongToTheWeight) {
  const TestTensor x = Floats({-2, 0, 3, kNaN});
  const TestTensor w = Floats({0.5});
  EXPECT_THAT(*FirstOutput(CallOf("Prelu", {x, w}, {})),
              ElementsAre(-1, 0, 3, NanSensitiveDoubleEq(kNaN)));
  const auto gradients =
      AllOutputs(CallOf("PreluBackward", {Floats({4, 4, 4, 0}), Floats({-2, 0, 3, -1}), w}, {}));
  ASSERT_THAT(gradients, IsOk());
  EXPECT_THAT((*gradients)[0].Values(), ElementsAre(2, 2, 4, 0));
  EXPECT_THAT((*gradients)[1].Values(), ElementsAre(-8));
}

TEST(PreluTest, WeightsAreOneOrThoseOfTheChannels) {
  ExpectInvalid(CallOf("Prelu", {Floats({1, 2}), Floats({1, 2})}, {}), "weight");
  EXPECT_THAT(
      *FirstOutput(
          CallOf("Prelu",
                 {TestTensor::Of(DType::kFloat32, {2, 2}, {-1, -2, -3, -4}), Floats({2, 10})}, {})),
      ElementsAre(-2, -20, -6, -40));
}

}  // namespace
}  // namespace opserve::testing
