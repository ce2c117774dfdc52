// CtcLoss and CtcLossBackward: values stated by the contract.
#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/ctc_calls.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing::ctc_loss_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Matcher;
using ::testing::NanSensitiveDoubleNear;
using ::testing::Pointwise;

Matcher<std::vector<double>> Near(const std::vector<double>& values) {
  return Pointwise(NanSensitiveDoubleNear(1e-13), values);
}

std::vector<double> Gradient(const CtcTensors& tensors, const CtcAttributes& attributes) {
  const absl::StatusOr<std::vector<double>> values =
      FirstOutput(CtcBackwardCall(tensors, attributes));
  EXPECT_THAT(values, IsOk());
  return values.ok() ? *values : std::vector<double>();
}

// The gradient after a forward of ours, grad_out 1.
std::vector<double> GradientOf(const TestTensor& log_probs, const TestTensor& targets,
                               const CtcAttributes& attributes) {
  const std::vector<double> ones(attributes.input_lengths.size(), 1.0);
  return Gradient(CtcForwardThenBackward(log_probs, targets, attributes, ones), attributes);
}

struct ForwardValues {
  std::vector<double> loss, log_alpha;
};

ForwardValues Forward(const OpCase& op_case) {
  const absl::StatusOr<std::vector<TestTensor>> outputs = AllOutputs(op_case);
  EXPECT_THAT(outputs, IsOk());
  if (!outputs.ok()) return {};
  return {(*outputs)[0].Values(), (*outputs)[1].Values()};
}

TestTensor Uniform(int64_t steps, int64_t batch, int64_t classes) {
  return TestTensor::Full(kF64, {steps, batch, classes}, -std::log(static_cast<double>(classes)));
}

TEST(CtcLossBackwardTest, IsTheFormula) {
  EXPECT_THAT(Gradient(GoodCtc(), GoodCtcAttributes()),
              Near({1.0 / 6, -1.0 / 6, 1.0 / 6, -1.0 / 6}));
  // One step: the label is certain.
  EXPECT_THAT(GradientOf(LogsOf(kF64, {1, 1, 2}, {0.25, 0.75}), Labels({1}, {1}), {{1}, {1}}),
              Near({0.25, -0.25}));
}

TEST(CtcLossBackwardTest, ScalesByTheGradientOfEachSample) {
  const CtcAttributes attributes = {{2, 2}, {1, 1}};
  const TestTensor labels = Labels({2, 1}, {1, 1});
  const CtcTensors tensors =
      CtcForwardThenBackward(Uniform(2, 2, 2), labels, attributes, {3, kInfinity});
  EXPECT_THAT(Gradient(tensors, attributes),
              Near({0.5, -0.5, kInfinity, -kInfinity, 0.5, -0.5, kInfinity, -kInfinity}));
}

TEST(CtcLossBackwardTest, ARepeatedLabelNeedsABlankBetween) {
  // 1, blank, 1 is the only way.
  EXPECT_THAT(GradientOf(Uniform(3, 1, 2), Labels({2}, {1, 1}), {{3}, {2}}),
              Near({0.5, -0.5, -0.5, 0.5, 0.5, -0.5}));
}

TEST(CtcLossBackwardTest, LabelsArePaddedOrConcatenated) {
  const TestTensor log_probs = LogsOf(
      kF64, {2, 2, 3}, {0.5, 0.25, 0.25, 0.25, 0.25, 0.5, 0.125, 0.5, 0.375, 0.5, 0.25, 0.25});
  const CtcAttributes attributes = {{2, 2}, {1, 2}};
  const auto padded = GradientOf(log_probs, Labels({2, 3}, {2, -7, 99, 2, 1, 99}), attributes);
  const auto joined = GradientOf(log_probs, Labels({3}, {2, 2, 1}), attributes);
  EXPECT_EQ(padded, joined);
  // The second sample has one alignment: 2, then 1.
  EXPECT_THAT(
      (std::vector<double>{padded[3], padded[4], padded[5], padded[9], padded[10], padded[11]}),
      Near({0.25, 0.25, -0.5, 0.5, -0.75, 0.25}));
}

TEST(CtcLossBackwardTest, FiveDtypesOfLabels) {
  const TestTensor log_probs = LogsOf(kF64, {2, 1, 2}, {0.25, 0.75, 0.5, 0.5});
  const CtcAttributes attributes = {{2}, {1}};
  const std::vector<double> want = GradientOf(log_probs, Labels({1}, {1}), attributes);
  // Probability 1 − 0.25·0.5 of a 1 somewhere; at step 0 it is a 1 in 0.75 of that.
  EXPECT_NEAR(want[1], 0.75 - 0.75 / 0.875, 1e-13);
  for (const DType dtype : {DType::kInt32, DType::kBool, DType::kFloat32, DType::kFloat16}) {
    const TestTensor padded = Labels({1, 2}, {1, 0}, dtype);
    EXPECT_EQ(GradientOf(log_probs, Labels({1}, {1}, dtype), attributes), want);
    EXPECT_EQ(GradientOf(log_probs, padded, attributes), want);
  }
}

TEST(CtcLossBackwardTest, ABoolIsClassZeroOrOne) {
  const CtcAttributes attributes = {.input_lengths = {2}, .target_lengths = {2}, .blank = 2};
  // 0, then 1.
  EXPECT_THAT(GradientOf(Uniform(2, 1, 4), Labels({2}, {0, 1}, DType::kBool), attributes),
              Near({-0.75, 0.25, 0.25, 0.25, 0.25, -0.75, 0.25, 0.25}));
}

TEST(CtcLossBackwardTest, NothingBeyondASamplesSteps) {
  CtcTensors tensors =
      CtcForwardThenBackward(Uniform(3, 2, 2), Labels({2, 1}, {1, 1}), {{1, 0}, {1, 0}}, {kNaN, 1});
  const std::vector<double> gradient = Gradient(tensors, {{1, 0}, {1, 0}});
  EXPECT_THAT(gradient, Near({kNaN, kNaN, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(CtcLossBackwardTest, NoLabelsMeansBlanks) {
  const TestTensor log_probs = LogsOf(kF64, {2, 1, 2}, {0.25, 0.75, 0.5, 0.5});
  for (const TestTensor& none : {Labels({0}, {}), Labels({1, 0}, {}), Labels({1, 1}, {-1})}) {
    EXPECT_THAT(GradientOf(log_probs, none, {{2}, {0}}), Near({-0.75, 0.75, -0.5, 0.5}));
  }
}

TEST(CtcLossBackwardTest, WithoutStepsTheGradientIsZeroEvenOfAnInfiniteLoss) {
  for (const bool zero_infinity : {false, true}) {
    const CtcAttributes attributes = {{0}, {1}, 0, zero_infinity};
    EXPECT_THAT(GradientOf(Uniform(2, 1, 2), Labels({1}, {1}), attributes), Near({0, 0, 0, 0}));
  }
}

TEST(CtcLossBackwardTest, AnInfiniteLossIsNaNOrZero) {
  // Two equal labels do not fit into two of three steps; the other sample is as ever.
  const auto gradient = [](bool zero_infinity) {
    const CtcAttributes attributes = {{2, 3}, {2, 2}, 0, zero_infinity};
    return GradientOf(Uniform(3, 2, 2), Labels({2, 2}, {1, 1, 1, 1}), attributes);
  };
  EXPECT_THAT(gradient(false),
              Near({kNaN, kNaN, 0.5, -0.5, kNaN, kNaN, -0.5, 0.5, 0, 0, 0.5, -0.5}));
  EXPECT_THAT(gradient(true), Near({0, 0, 0.5, -0.5, 0, 0, -0.5, 0.5, 0, 0, 0.5, -0.5}));
}

TEST(CtcLossBackwardTest, ZeroInfinityLooksAtTheGivenLoss) {
  CtcAttributes attributes = GoodCtcAttributes();
  attributes.zero_infinity = true;
  CtcTensors tensors = GoodCtc();
  tensors.grad_out->Set(0, kNaN);
  tensors.neg_log_likelihood->Set(0, kInfinity);
  EXPECT_THAT(Gradient(tensors, attributes), Near({0, 0, 0, 0}));
  tensors.neg_log_likelihood->Set(0, kNaN);
  EXPECT_THAT(Gradient(tensors, attributes), Near({kNaN, kNaN, kNaN, kNaN}));
}

TEST(CtcLossBackwardTest, AlphaAndTheLossAreTakenAsGiven) {
  // Both alphas and the loss say other things than the forward would: exp(res + nll − lp) does too.
  CtcTensors tensors = GoodCtc();
  tensors.neg_log_likelihood->Set(0, 0.0);  // −ln(3/4) less: occupation is 3/4 of what it was
  EXPECT_THAT(Gradient(tensors, GoodCtcAttributes()), Near({0.25, 0, 0.25, 0}));
  tensors = GoodCtc();
  for (int64_t i = 0; i < 6; ++i)
    tensors.log_alpha->Set(i, tensors.log_alpha->At(i) + std::log(3.0));
  EXPECT_THAT(Gradient(tensors, GoodCtcAttributes()), Near({-0.5, -1.5, -0.5, -1.5}));
}

TEST(CtcLossBackwardTest, ALossOfMinusInfinityLeavesTheProbabilities) {
  CtcTensors tensors = GoodCtc();
  tensors.neg_log_likelihood->Set(0, -kInfinity);
  EXPECT_THAT(Gradient(tensors, GoodCtcAttributes()), Near({0.5, 0.5, 0.5, 0.5}));
}

TEST(CtcLossBackwardTest, AlphaBeyondTheSampleIsNeverRead) {
  // Samples of 1 and 3 steps, 1 and 2 labels; W = 9 where 5 would do.
  const CtcAttributes attributes = {{1, 3}, {1, 2}};
  const TestTensor log_probs = Uniform(3, 2, 4);
  const TestTensor labels = Labels({2, 2}, {1, 9, 2, 3});
  CtcTensors tensors = CtcForwardThenBackward(log_probs, labels, attributes, {1, 2});
  const std::vector<double> want = Gradient(tensors, attributes);
  TestTensor wide = TestTensor::Full(kF64, {2, 3, 9}, kNaN);
  for (int64_t b = 0; b < 2; ++b) {
    for (int64_t t = 0; t < attributes.input_lengths[static_cast<size_t>(b)]; ++t) {
      for (int64_t s = 0; s <= 2 * attributes.target_lengths[static_cast<size_t>(b)]; ++s)
        wide.Set((b * 3 + t) * 9 + s, tensors.log_alpha->At((b * 3 + t) * 5 + s));
    }
  }
  tensors.log_alpha = wide;
  EXPECT_EQ(Gradient(tensors, attributes), want);
}

TEST(CtcLossBackwardTest, ALabelEqualToBlankFollowsTheFormula) {
  // All three states are class 0: it is occupied with certainty at every step.
  EXPECT_THAT(GradientOf(Uniform(2, 1, 2), Labels({1}, {0}), {{2}, {1}}),
              Near({-0.5, 0.5, -0.5, 0.5}));
  EXPECT_THAT(GradientOf(LogsOf(kF64, {1, 1, 2}, {0.25, 0.75}), Labels({1}, {0}), {{1}, {1}}),
              Near({-0.75, 0.75}));
}

TEST(CtcLossBackwardTest, AnImpossibleClassIsNaNThereAlone) {
  EXPECT_THAT(GradientOf(LogsOf(kF64, {1, 1, 3}, {0.5, 0.5, 0}), Labels({1}, {1}), {{1}, {1}}),
              Near({0.5, -0.5, kNaN}));
  // The blank is impossible at the first step.
  EXPECT_THAT(GradientOf(LogsOf(kF64, {2, 1, 2}, {0, 1, 0.5, 0.5}), Labels({1}, {1}), {{2}, {1}}),
              Near({kNaN, 0, 0, 0}));
}

TEST(CtcLossBackwardTest, NobodyIsLegalOnTheHost) {
  const CtcTensors tensors = {.grad_out = TestTensor::Of(kF64, {0}, {}),
                              .log_probs = TestTensor::Of(kF64, {2, 0, 3}, {}),
                              .targets = Labels({0}, {}),
                              .neg_log_likelihood = TestTensor::Of(kF64, {0}, {}),
                              .log_alpha = TestTensor::Of(kF64, {0, 2, 1}, {})};
  const auto outputs = AllOutputs(CtcBackwardCall(tensors, {{}, {}}));
  ASSERT_THAT(outputs, IsOk());
  EXPECT_EQ((*outputs)[0].desc().shape, (Dims{2, 0, 3}));
}

TEST(CtcLossTest, IsTheFormula) {
  const ForwardValues values =
      Forward(CtcCall(Uniform(2, 1, 2), Labels({1}, {1}), GoodCtcAttributes()));
  EXPECT_THAT(values.loss, Near({-std::log(0.75)}));
  EXPECT_THAT(values.log_alpha, Near(GoodCtc().log_alpha->Values()));
}

TEST(CtcLossTest, AlphaIsMinusInfinityBeyondTheSample) {
  const ForwardValues values =
      Forward(CtcCall(Uniform(2, 2, 2), Labels({2, 1}, {1, 1}), {{1, 2}, {0, 1}}));
  const double half = -std::log(2.0);
  EXPECT_THAT(values.loss, Near({-half, -std::log(0.75)}));
  EXPECT_THAT(values.log_alpha,
              Near({half, -kInfinity, -kInfinity, -kInfinity, -kInfinity, -kInfinity,  //
                    half, half, -kInfinity, 2 * half, half, 2 * half}));
}

TEST(CtcLossTest, AGivenAlphaMayBeWider) {
  const OpCase op_case = CtcCall(Uniform(2, 1, 2), Labels({1}, {1}), GoodCtcAttributes());
  absl::StatusOr<OpCall> call = BindCase(op_case);
  ASSERT_THAT(call, IsOk());
  call->outputs[1].requested_shape = Dims{1, 2, 5};
  ASSERT_THAT(PlanCall(*call), IsOk());
  const std::unique_ptr<Engine> engine = MakeEngine(1);
  const auto outputs = RunKernel(*engine->devices()[0], *call, op_case, std::byte{0xFF});
  ASSERT_THAT(outputs, IsOk());
  const double half = -std::log(2.0);
  EXPECT_THAT((*outputs)[1].Values(), Near({half, half, -kInfinity, -kInfinity, -kInfinity,
                                            2 * half, half, 2 * half, -kInfinity, -kInfinity}));
}

TEST(CtcLossTest, TheLossStaysInfiniteUnderZeroInfinity) {
  for (const bool zero_infinity : {false, true}) {
    const CtcAttributes attributes = {{1}, {2}, 0, zero_infinity};
    const OpCase op_case = CtcCall(Uniform(1, 1, 3), Labels({2}, {1, 2}), attributes);
    EXPECT_THAT(Forward(op_case).loss, ElementsAre(kInfinity));
  }
}

TEST(CtcLossTest, WithoutStepsTheLossIsZeroOrInfinite) {
  const ForwardValues values =
      Forward(CtcCall(Uniform(2, 2, 2), Labels({1}, {1}), {{0, 0}, {0, 1}}));
  EXPECT_THAT(values.loss, ElementsAre(0, kInfinity));
  EXPECT_THAT(values.log_alpha, Each(-kInfinity));
}

TEST(CtcLossTest, NoLabelsMeansBlanks) {
  const TestTensor log_probs = LogsOf(kF64, {2, 1, 2}, {0.25, 0.75, 0.5, 0.5});
  const ForwardValues values = Forward(CtcCall(log_probs, Labels({0}, {}), {{2}, {0}}));
  EXPECT_THAT(values.loss, Near({std::log(8.0)}));
  EXPECT_THAT(values.log_alpha, Near({std::log(0.25), std::log(0.125)}));
}

TEST(CtcLossTest, NaNReachesItsSampleAlone) {
  TestTensor log_probs = Uniform(2, 2, 2);
  log_probs.Set(1, kNaN);  // of sample 0, step 0, its label
  const ForwardValues values = Forward(CtcCall(log_probs, Labels({2}, {1, 1}), {{2, 2}, {1, 1}}));
  EXPECT_THAT(values.loss, Near({kNaN, -std::log(0.75)}));
}

TEST(CtcLossTest, NobodyIsLegalOnTheHost) {
  const ForwardValues values =
      Forward(CtcCall(TestTensor::Of(kF64, {2, 0, 3}, {}), Labels({0, 4}, {}), {{}, {}}));
  EXPECT_THAT(values.loss, IsEmpty());
  EXPECT_THAT(values.log_alpha, IsEmpty());
}

}  // namespace
}  // namespace opserve::testing::ctc_loss_test
