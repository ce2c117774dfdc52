// Convolution and ConvolutionBackward: values stated by the contract, and the order of its checks.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/limit_values.h"
#include "tests/support/calls.h"
#include "tests/support/errors.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing::convolution_test {
namespace {

using ::testing::ElementsAre;
using Ints = std::vector<int64_t>;

TestTensor Data(const Dims& shape, const std::vector<double>& values) {
  return TestTensor::Of(DType::kFloat32, shape, values);
}
TestTensor Blank(const Dims& shape) { return TestTensor::Full(DType::kFloat32, shape, 0); }

struct Settings {
  Ints stride = {1};
  Ints padding = {0};
  Ints dilation = {1};
  bool transposed = false;
  Ints output_padding = {0};
  int64_t groups = 1;
};

OpCase Forward(TestTensor input, TestTensor weight, const Settings& s,
               std::optional<TestTensor> bias = std::nullopt) {
  return CallOf(
      "Convolution", {std::move(input), std::move(weight), std::move(bias)},
      {s.stride, s.padding, s.dilation, s.transposed, s.output_padding, s.groups, int64_t{0}});
}

OpCase Backward(TestTensor grad, TestTensor input, TestTensor weight, const Settings& s,
                const Ints& bias_sizes = {}, const std::vector<bool>& mask = {true, true, true}) {
  return CallOf("ConvolutionBackward", {std::move(grad), std::move(input), std::move(weight)},
                {bias_sizes, s.stride, s.padding, s.dilation, s.transposed, s.output_padding,
                 s.groups, mask, int64_t{0}});
}

TEST(ConvolutionTest, SlidesTheKernel) {
  const auto values = FirstOutput(
      Forward(Data({1, 1, 4}, {1, 2, 3, 4}), Data({1, 1, 2}, {10, 1}), {}, Floats({100})));
  ASSERT_THAT(values, IsOk());
  EXPECT_THAT(*values, ElementsAre(112, 123, 134));
}

TEST(ConvolutionTest, PadsStridesAndDilates) {
  const auto values = FirstOutput(Forward(Data({1, 1, 4}, {1, 2, 3, 4}), Data({1, 1, 2}, {10, 1}),
                                          {.stride = {2}, .padding = {2}, .dilation = {3}}));
  ASSERT_THAT(values, IsOk());
  // Places −2 and 1, 0 and 3, 2 and 5.
  EXPECT_THAT(*values, ElementsAre(2, 14, 30));
}

TEST(ConvolutionTest, TransposedSpreadsTheInput) {
  const auto values =
      FirstOutput(Forward(Data({1, 1, 2}, {1, 2}), Data({1, 1, 2}, {10, 1}),
                          {.stride = {3}, .transposed = true, .output_padding = {1}}));
  ASSERT_THAT(values, IsOk());
  EXPECT_THAT(*values, ElementsAre(10, 1, 0, 20, 2, 0));
}

TEST(ConvolutionTest, GroupsDoNotMix) {
  const auto values = FirstOutput(
      Forward(Data({1, 2, 2}, {1, 2, kInfinity, 3}), Data({2, 1, 1}, {10, 1}), {.groups = 2}));
  ASSERT_THAT(values, IsOk());
  EXPECT_THAT(*values, ElementsAre(10, 20, kInfinity, 3));
}

TEST(ConvolutionTest, WhatDoesNotGoTogetherIsRefused) {
  const auto refused = [](const Dims& input, const Dims& weight, const Settings& settings,
                          std::string_view parameter,
                          std::optional<TestTensor> bias = std::nullopt) {
    SCOPED_TRACE(ShapeToString(weight));
    const OpCase call = Forward(Blank(input), Blank(weight), settings, std::move(bias));
    ExpectInvalid(call, parameter);
  };
  refused({3, 4}, {2, 3}, {}, "input");
  refused({1, 3, 4}, {2, 3, 1, 1}, {}, "weight");
  refused({1, 3, 4}, {2, 2, 1}, {}, "weight");
  refused({1, 3, 4}, {3, 1, 1}, {.groups = 2}, "groups");
  refused({1, 4, 4}, {3, 2, 1}, {.groups = 2}, "weight");
  refused({1, 3, 4}, {2, 3, 5}, {}, "input");
  refused({1, 3, 4}, {2, 3, 0}, {}, "input");
  refused({1, 3, 4}, {2, 3, 1}, {.stride = {}}, "stride");
  refused({1, 3, 4}, {2, 3, 1}, {.padding = {1, 2}}, "padding");
  refused({1, 3, 4}, {2, 3, 1}, {}, "bias", Floats({1}));
  refused({1, 3, 4}, {2, 3, 1}, {.transposed = true}, "weight");
  refused({1, 2, 4}, {2, 3, 1}, {.transposed = true, .output_padding = {1}}, "output_padding");
  refused({1, 2, 1}, {2, 3, 1}, {.padding = {1}, .transposed = true}, "input");
  constexpr int64_t kHuge = int64_t{1} << 62;
  refused({1, 3, 4}, {2, 3, 3}, {.dilation = {kHuge}}, "input");
  refused({1, 3, 4}, {2, 3, 3}, {.padding = {kHuge}}, "input");
  refused({1, 3, 4}, {2, 3, 1}, {.padding = {kHuge / 4}}, "weight");
  refused({1, 3, 4}, {3, 2, 1}, {.stride = {kHuge}, .transposed = true}, "input");
}

TEST(ConvolutionBackwardTest, HasTheGradientsOfAllThree) {
  const auto outputs = AllOutputs(Backward(
      Data({1, 1, 3}, {1, 2, 4}), Data({1, 1, 4}, {1, 2, 3, 4}), Data({1, 1, 2}, {10, 1}), {}));
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT((*outputs)[0].Values(), ElementsAre(10, 21, 42, 4));
  EXPECT_THAT((*outputs)[1].Values(), ElementsAre(17, 24));
  EXPECT_THAT((*outputs)[2].Values(), ElementsAre(7));
}

TEST(ConvolutionBackwardTest, WithoutABatchTheParametersHaveNoGradient) {
  const auto outputs =
      AllOutputs(Backward(Blank({0, 1, 3}), Blank({0, 1, 4}), Blank({1, 1, 2}), {}));
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT((*outputs)[1].Values(), ElementsAre(0, 0));
  EXPECT_THAT((*outputs)[2].Values(), ElementsAre(0));
}

TEST(ConvolutionBackwardTest, WhatDoesNotGoTogetherIsRefused) {
  const TestTensor input = Blank({1, 1, 4});
  const TestTensor weight = Blank({2, 1, 2});
  const TestTensor grad = Blank({1, 2, 3});
  EXPECT_THAT(PlanCase(Backward(grad, input, weight, {}, {2})).status(), IsOk());
  ExpectInvalid(Backward(Blank({1, 2, 4}), input, weight, {}), "grad_output");
  ExpectInvalid(Backward(grad, input, weight, {}, {3}), "bias_sizes");
  ExpectInvalid(Backward(grad, input, weight, {}, {2, 1}), "bias_sizes");
  absl::StatusOr<OpCall> call = PlanCase(Backward(grad, input, weight, {}));
  ASSERT_THAT(call, IsOk());
  call->output(1).origin = OutputSlot::Origin::kMissing;
  ExpectError(PlanCall(*call), kParamInvalid, "grad_weight");
}

}  // namespace
}  // namespace opserve::testing::convolution_test
