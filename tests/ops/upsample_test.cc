// What the contract states of the operators that resample planes.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/calls.h"
#include "tests/support/errors.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using Ints = std::vector<int64_t>;
using ::testing::ElementsAre;

TestTensor UpsampledRow(const std::vector<double>& values) {
  return TestTensor::Of(DType::kFloat32, {1, 1, 1, static_cast<int64_t>(values.size())}, values);
}

std::vector<double> NearestGradient(const std::vector<double>& gradient, int64_t in, double scale) {
  return *FirstOutput(
      CallOf("UpsampleNearest2dBackward", {UpsampledRow(gradient)},
             {Ints{1, static_cast<int64_t>(gradient.size())}, Ints{1, 1, 1, in}, 0.0, scale}));
}

std::vector<double> Linear(const std::vector<double>& row, int64_t out, bool align_corners,
                           double scale) {
  return *FirstOutput(
      CallOf("UpsampleBilinear2d", {UpsampledRow(row)}, {Ints{1, out}, align_corners, 0.0, scale}));
}

TEST(UpsampleNearestTest, PlacesAreThoseOfTheRatio) {
  EXPECT_THAT(*FirstOutput(CallOf("UpsampleNearest2d", {UpsampledRow({1, 2, 3})}, {Ints{2, 5}})),
              ElementsAre(1, 1, 2, 2, 3, 1, 1, 2, 2, 3));
  EXPECT_THAT(*FirstOutput(CallOf("UpsampleNearest2d", {UpsampledRow({1, 2, 3})}, {Ints{1, 2}})),
              ElementsAre(1, 2));
}

TEST(UpsampleNearestTest, AFactorCountsUnlessTheSizesAreOneOrTwo) {
  EXPECT_THAT(NearestGradient({1, 2, 4, 8, 16}, 3, 0), ElementsAre(3, 12, 16));
  EXPECT_THAT(NearestGradient({1, 2, 4, 8, 16}, 3, 4), ElementsAre(15, 16, 0));
  EXPECT_THAT(NearestGradient({1, 2, 4, 8, 16}, 3, -4), ElementsAre(3, 12, 16));
  EXPECT_THAT(NearestGradient({1, 2, 4}, 3, 4), ElementsAre(1, 2, 4));
  EXPECT_THAT(NearestGradient({1, 2, 4, 8}, 2, 4), ElementsAre(3, 12));
  // Of 1 / factor that is no float.
  EXPECT_THAT(NearestGradient({1, 2, 4, 8, 16}, 3, 1e-300), ElementsAre(1, 0, 30));
}

TEST(UpsampleBilinearTest, PlacesAreThoseOfCentersOrCorners) {
  EXPECT_THAT(Linear({0, 4}, 4, false, 0), ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(Linear({0, 3}, 4, true, 0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Linear({0, 4, 8}, 1, true, 0), ElementsAre(0));
  EXPECT_THAT(Linear({0, 4, 8}, 1, false, 0), ElementsAre(4));
  EXPECT_THAT(Linear({0, 4, 8, 12}, 3, false, 2), ElementsAre(0, 1, 3));
  EXPECT_THAT(Linear({0, 4, 8}, 3, false, 2), ElementsAre(0, 4, 8));
}

TEST(UpsampleBilinearTest, GradientsAreTheParts) {
  EXPECT_THAT(*FirstOutput(CallOf("UpsampleBilinear2dBackward", {UpsampledRow({1, 2, 4, 8})},
                                  {Ints{1, 4}, Ints{1, 1, 1, 2}, false, 0.0, 0.0})),
              ElementsAre(1 + 1.5 + 1, 0.5 + 3 + 8));
}

TEST(UpsampleTest, SizesAreChecked) {
  const auto backward = [](Ints output, Ints input) {
    return PlanCase(CallOf("UpsampleNearest2dBackward", {UpsampledRow({1, 2})},
                           {std::move(output), std::move(input), 0.0, 0.0}))
        .status();
  };
  EXPECT_THAT(backward({1, 2}, {1, 1, 3, 3}), IsOk());
  ExpectError(backward({1, 3}, {1, 1, 3, 3}), ErrorReason::kShapeMismatch, "grad_out");
  ExpectError(backward({1, 2}, {2, 1, 3, 3}), ErrorReason::kShapeMismatch, "grad_out");
  ExpectError(backward({1, 2}, {1, 1, 0, 3}), ErrorReason::kOutOfRange, "input_size");
  ExpectError(backward({1, 2}, {1, 1, int64_t{1} << 40, int64_t{1} << 40}),
              ErrorReason::kOutOfRange, "input_size");
  ExpectError(backward({1, 2, 3}, {1, 1, 3, 3}), ErrorReason::kInvalidParameter, "output_size");
  ExpectError(backward({0, 2}, {1, 1, 3, 3}), ErrorReason::kOutOfRange, "output_size");
  ExpectError(PlanCase(CallOf("UpsampleNearest2d",
                              {TestTensor::Full(DType::kFloat32, {1, 2, 3}, 1)}, {Ints{1, 2}}))
                  .status(),
              ErrorReason::kShapeMismatch, "self");
}

}  // namespace
}  // namespace opserve::testing
