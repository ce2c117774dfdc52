// What the contract states of the operators that pad planes.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/calls.h"
#include "tests/support/errors.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing::pad_test {
namespace {

using Ints = std::vector<int64_t>;
using ::testing::ElementsAre;

TestTensor PaddedRow(const std::vector<double>& values) {
  return TestTensor::Of(DType::kFloat32, {1, static_cast<int64_t>(values.size())}, values);
}

std::vector<double> Padded(std::string_view op, Ints padding) {
  return *FirstOutput(CallOf(op, {PaddedRow({1, 2, 3})}, {std::move(padding)}));
}

TEST(PadTest, RowsAreMirroredAtTheirEnds) {
  EXPECT_THAT(Padded("ReflectionPad1d", {2, 1}), ElementsAre(3, 2, 1, 2, 3, 2));
  EXPECT_THAT(Padded("ReflectionPad1d", {-1, 2}), ElementsAre(2, 3, 2, 1));
}

TEST(PadTest, EndsOfRowsAreRepeated) {
  EXPECT_THAT(Padded("ReplicationPad1d", {4, 1}), ElementsAre(1, 1, 1, 1, 1, 2, 3, 3));
  EXPECT_THAT(Padded("ReplicationPad1d", {-2, 1}), ElementsAre(3, 3));
  EXPECT_THAT(Padded("ReplicationPad1d", {-5, 4}), ElementsAre(3, 3));
}

TEST(PadTest, GradientsAreThoseOfAllOutputs) {
  const auto gradient = [](std::string_view op, const std::vector<double>& values, Ints padding) {
    return *FirstOutput(
        CallOf(op, {PaddedRow(values), PaddedRow({0, 0, 0})}, {std::move(padding)}));
  };
  EXPECT_THAT(gradient("ReflectionPad1dBackward", {1, 2, 4, 8, 16, 32}, {2, 1}),
              ElementsAre(4, 42, 17));
  EXPECT_THAT(gradient("ReplicationPad1dBackward", {1, 2, 4, 8, 16, 32}, {2, 1}),
              ElementsAre(7, 8, 48));
  EXPECT_THAT(gradient("ReplicationPad1dBackward", {5}, {-1, -1}), ElementsAre(0, 5, 0));
}

TEST(PadTest, ExtentsOfNothingAreBounded) {
  for (const int64_t extent : {(int64_t{1} << 60) + 1, std::numeric_limits<int64_t>::max()}) {
    const TestTensor empty = TestTensor::Of(DType::kFloat32, {0, 1, extent}, {});
    ExpectInvalid(CallOf("ReplicationPad1d", {empty}, {Ints{1, -1}}), "self");
    const TestTensor planes = TestTensor::Of(DType::kFloat32, {0, 1, 1, extent}, {});
    ExpectInvalid(CallOf("AvgPool2d", {planes}, {Ints{1, 3}, Ints{1}, Ints{0, 1}}), "self");
  }
}

TEST(PadTest, LeftAndRightComeBeforeAboveAndBelow) {
  const TestTensor plane = TestTensor::Of(DType::kFloat32, {1, 2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(*FirstOutput(CallOf("ReplicationPad2d", {plane}, {Ints{1, 0, 0, 1}})),
              ElementsAre(1, 1, 2, 3, 3, 4, 3, 3, 4));
  EXPECT_THAT(*FirstOutput(CallOf("ReflectionPad2d", {plane}, {Ints{1, 0, 0, 1}})),
              ElementsAre(2, 1, 2, 4, 3, 4, 2, 1, 2));
}

TEST(PadTest, PaddingIsChecked) {
  const auto pad = [](std::string_view op, Ints padding) {
    return PlanCase(CallOf(op, {PaddedRow({1, 2, 3})}, {std::move(padding)})).status();
  };
  constexpr int64_t kMost = int64_t{1} << 60;
  ExpectError(pad("ReflectionPad1d", {3, 0}), ErrorReason::kOutOfRange, "padding");
  ExpectError(pad("ReflectionPad1d", {0, 3}), ErrorReason::kOutOfRange, "padding");
  ExpectError(pad("ReflectionPad1d", {-1, -2}), ErrorReason::kOutOfRange, "padding");
  ExpectError(pad("ReflectionPad1d", {1}), ErrorReason::kInvalidParameter, "padding");
  ExpectError(pad("ReplicationPad1d", {1, 1, 1, 1}), ErrorReason::kInvalidParameter, "padding");
  ExpectError(pad("ReplicationPad1d", {kMost, kMost}), ErrorReason::kOutOfRange, "padding");
  ExpectError(pad("ReplicationPad1d", {kMost + 1, -kMost}), ErrorReason::kOutOfRange, "padding");
  EXPECT_THAT(pad("ReplicationPad1d", {kMost, -kMost}), IsOk());
  EXPECT_THAT(
      *FirstOutput(CallOf("ReplicationPad1d", {PaddedRow({1, 2, 3})}, {Ints{-kMost, kMost}})),
      ElementsAre(3, 3, 3));
}

}  // namespace
}  // namespace opserve::testing::pad_test
