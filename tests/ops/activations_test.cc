// The activations: values and rules that the contract states of one of them.
#include "core/op/op_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/limit_values.h"
#include "tests/support/calls.h"
#include "tests/support/errors.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::NanSensitiveDoubleEq;

absl::Status PlanOf(const OpCase& op_case) { return PlanCase(op_case).status(); }

// Longer than any vector and no multiple of one: PyTorch's tail differs from its body.
std::vector<double> OfNaNs(std::string_view op, std::vector<AttributeValue> attributes) {
  const TestTensor grad = TestTensor::Full(DType::kFloat32, {37}, 3);
  const TestTensor self = TestTensor::Full(DType::kFloat32, {37}, kNaN);
  return *FirstOutput(CallOf(op, {grad, self}, std::move(attributes)));
}

TEST(ActivationsTest, NaNIsTreatedAlikeInEveryPosition) {
  EXPECT_THAT(OfNaNs("HardtanhBackward", {-1.0, 1.0}), Each(3.0));
  EXPECT_THAT(OfNaNs("SoftshrinkBackward", {0.5}), Each(3.0));
  EXPECT_THAT(OfNaNs("ThresholdBackward", {0.5}), Each(3.0));
  EXPECT_THAT(OfNaNs("HardsigmoidBackward", {}), Each(0.0));
  for (const auto& values :
       {OfNaNs("HardswishBackward", {}), OfNaNs("EluBackward", {1.0, 1.0, 1.0, false}),
        OfNaNs("SiluBackward", {}), OfNaNs("GeluBackward", {})})
    EXPECT_THAT(values, Each(NanSensitiveDoubleEq(kNaN)));
}

TEST(ActivationsTest, BendsBelongToOneSide) {
  const TestTensor grad = Floats({2, 2, 2, 2});
  const TestTensor self = Floats({-3, -1, 1, 3});
  const auto gradient = [&](std::string_view op, std::vector<AttributeValue> attributes) {
    return *FirstOutput(CallOf(op, {grad, self}, std::move(attributes)));
  };
  EXPECT_THAT(gradient("HardtanhBackward", {-1.0, 3.0}), ElementsAre(0, 0, 2, 0));
  EXPECT_THAT(gradient("HardsigmoidBackward", {})[0], 0);
  EXPECT_THAT(gradient("HardsigmoidBackward", {})[3], 0);
  EXPECT_THAT(gradient("HardswishBackward", {})[0], 0);
  EXPECT_THAT(gradient("HardswishBackward", {})[3], 2);
  EXPECT_THAT(gradient("ThresholdBackward", {1.0}), ElementsAre(0, 0, 0, 2));
  EXPECT_THAT(gradient("LeakyReluBackward", {0.5, false}), ElementsAre(1, 1, 2, 2));
}

TEST(ActivationsTest, ARangeThatIsNoneGivesItsUpperEnd) {
  EXPECT_THAT(*FirstOutput(CallOf("Hardtanh", {Floats({-2, 0, 2})}, {0.5, -0.5})), Each(-0.5));
}

TEST(ActivationsTest, ABoundThatIsNaNMakesAllNaN) {
  for (const auto& [low, high] : {std::pair(kNaN, 1.0), {-1.0, kNaN}, {kNaN, kNaN}})
    EXPECT_THAT(*FirstOutput(CallOf("Hardtanh", {TestTensor::Full(DType::kFloat32, {37}, 0.5)},
                                    {low, high})),
                Each(NanSensitiveDoubleEq(kNaN)));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(
      *FirstOutput(CallOf("Hardtanh", {Floats({-infinity, 0.5, infinity})}, {-infinity, infinity})),
      ElementsAre(-infinity, 0.5, infinity));
}

TEST(ActivationsTest, AResultTellsTheSidesApartOnlyOfScalarsThatAreNotNegative) {
  const std::vector<std::optional<TestTensor>> inputs = {Floats({1}), Floats({-0.5})};
  ExpectError(PlanOf(CallOf("EluBackward", inputs, {-1.0, 1.0, 1.0, true})), kParamInvalid,
              "alpha");
  EXPECT_THAT(PlanOf(CallOf("EluBackward", inputs, {-1.0, 1.0, 1.0, false})), IsOk());
  ExpectError(PlanOf(CallOf("LeakyReluBackward", inputs, {-0.1, true})), kParamInvalid,
              "negative_slope");
  EXPECT_THAT(PlanOf(CallOf("LeakyReluBackward", inputs, {-0.1, false})), IsOk());
  // From its result, Elu's gradient is that from its input.
  EXPECT_THAT(*FirstOutput(CallOf("EluBackward", inputs, {2.0, 1.0, 1.0, true})), ElementsAre(1.5));
}

TEST(ActivationsTest, SoftshrinkRefusesANegativeLambda) {
  ExpectError(PlanOf(CallOf("Softshrink", {Floats({1})}, {-0.5})), kParamInvalid, "lambd");
  ExpectError(PlanOf(CallOf("SoftshrinkBackward", {Floats({1}), Floats({1})}, {kNaN})),
              kParamInvalid, "lambd");
}

TEST(ActivationsTest, LogSigmoidBackwardNeedsNoBuffer) {
  const TestTensor grad = Floats({2, 2});
  const TestTensor self = Floats({0, -kInfinity});
  for (const std::optional<TestTensor>& buffer :
       {std::optional<TestTensor>(), std::optional(Floats({})), std::optional(Floats({7, 7}))})
    EXPECT_THAT(*FirstOutput(CallOf("LogSigmoidBackward", {grad, self, buffer}, {})),
                ElementsAre(1, 2));
  ExpectError(PlanOf(CallOf("LogSigmoidBackward", {grad, self, Floats({1})}, {})), kParamInvalid,
              "buffer");
}

TEST(ActivationsTest, FarFromZeroPrecisionStays) {
  // float32 holds neither e^-88 nor 1 - e^-20 well; the results it does.
  EXPECT_NEAR((*FirstOutput(CallOf("Silu", {Floats({-90})}, {})))[0] / -7.3746114e-38, 1, 1e-6);
  EXPECT_NEAR((*FirstOutput(CallOf("Gelu", {Floats({-12})}, {})))[0] / -2.1317785e-32, 1, 1e-6);
  EXPECT_NEAR((*FirstOutput(CallOf("LogSigmoid", {Floats({20})}, {})))[0] / -2.0611536e-9, 1, 1e-6);
}

TEST(ActivationsTest, NoResultDependsOnItsNeighbours) {
  int tried = 0;
  for (const Operator* op : AllOperators()) {
    if (FamilyOf(*op) != "Activations") continue;
    const auto result = [op](std::optional<size_t> only) {
      std::vector<std::optional<TestTensor>> inputs;
      for (size_t k = 0; k < op->inputs.size(); ++k)
        inputs.emplace_back(Floats(MixedValues(k, only)));
      return FirstOutput(CallOf(op->name, inputs, {}));
    };
    const auto mixed = result(std::nullopt);
    // Softmax and its like are made of rows; some operators need other inputs.
    if (!mixed.ok() || mixed->size() != kMixedValues || op->name.find("Softmax") != op->name.npos)
      continue;
    for (size_t i = 0; i < kMixedValues; ++i)
      EXPECT_TRUE(SameNumber((*mixed)[i], (*result(i))[i])) << op->name << " at " << i;
    ++tried;
  }
  EXPECT_GE(tried, 30);
}

TEST(LossesTest, KlDivOfABatch) {
  const TestTensor self = TestTensor::Of(DType::kFloat32, {2, 2}, {-1, -2, -1, -2});
  const TestTensor target = TestTensor::Of(DType::kFloat32, {2, 2}, {0, 1, 0, 1});
  EXPECT_THAT(*FirstOutput(CallOf("KlDiv", {self, target}, {int64_t{3}, false})), ElementsAre(2));
  EXPECT_THAT(*FirstOutput(CallOf("KlDiv", {self, target}, {int64_t{1}, false})), ElementsAre(1));
  EXPECT_THAT(
      *FirstOutput(CallOf("KlDivBackward", {Floats({1}), self, target}, {int64_t{3}, false})),
      ElementsAre(0, -0.5, 0, -0.5));
  ExpectError(PlanOf(CallOf("MseLoss", {self, target}, {int64_t{3}})), kParamInvalid, "reduction");
}

TEST(LossesTest, BinaryCrossEntropyIsBoundedAtTheEnds) {
  const TestTensor self = Floats({0, 1, 0, 1, 2});
  const TestTensor target = Floats({0, 1, 1, 0, 1});
  EXPECT_THAT(
      *FirstOutput(CallOf("BinaryCrossEntropy", {self, target, std::nullopt}, {int64_t{0}})),
      ElementsAre(0, 0, 100, 100, NanSensitiveDoubleEq(kNaN)));
}

TEST(LossesTest, TheGradientOfATargetBesideAnInfiniteLogitIsInfinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  const TestTensor ones = Floats({1, 1, 1});
  const auto gradient = [&](const std::optional<TestTensor>& pos_weight) {
    return *FirstOutput(CallOf(
        "BinaryCrossEntropyWithLogitsTargetBackward",
        {ones, Floats({-infinity, infinity, 2}), Floats({0, 0, 0}), std::nullopt, pos_weight},
        {int64_t{0}}));
  };
  EXPECT_THAT(gradient(std::nullopt), ElementsAre(infinity, -infinity, -2));
  for (const double pos_weight : {0.5, 1.0, 2.0}) {
    const std::vector<double> values = gradient(Floats({pos_weight}));
    EXPECT_EQ(values[0], infinity);
    EXPECT_EQ(values[1], -infinity);
  }
}

TEST(LossesTest, WeightsMayBeLeftOutOneByOne) {
  const TestTensor self = Floats({0.5, -1});
  const TestTensor target = Floats({1, 0.25});
  const auto loss = [&](const std::optional<TestTensor>& weight,
                        const std::optional<TestTensor>& pos_weight) {
    return *FirstOutput(
        CallOf("BinaryCrossEntropyWithLogits", {self, target, weight, pos_weight}, {int64_t{0}}));
  };
  const std::optional<TestTensor> ones = Floats({1, 1});
  EXPECT_EQ(loss(std::nullopt, std::nullopt), loss(ones, ones));
  EXPECT_EQ(loss(std::nullopt, Floats({3})), loss(ones, Floats({3, 3})));
  EXPECT_EQ(loss(Floats({2}), std::nullopt), loss(Floats({2, 2}), ones));
}

}  // namespace
}  // namespace opserve::testing
