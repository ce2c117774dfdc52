// The gates: values and rules that the contract states.
#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/limit_values.h"
#include "tests/support/calls.h"
#include "tests/support/errors.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using ::testing::ElementsAre;

absl::Status Refusal(const OpCase& op_case) { return PlanCase(op_case).status(); }

TestTensor Matrix(const std::vector<double>& values) {
  return TestTensor::Of(DType::kFloat32, {2, static_cast<int64_t>(values.size()) / 2}, values);
}

TEST(GatesTest, TheFirstHalfIsThatOfTheSmallerIndices) {
  const TestTensor x = Matrix({1, 2, 0, 0, 3, 4, 0, 0});
  EXPECT_THAT(*FirstOutput(CallOf("Glu", {x}, {int64_t{-1}})), ElementsAre(0.5, 1, 1.5, 2));
  EXPECT_THAT(*FirstOutput(CallOf("Glu", {x}, {int64_t{1}})), ElementsAre(0.5, 1, 1.5, 2));
  EXPECT_THAT(*FirstOutput(CallOf("SwiGlu", {Matrix({0, 1000, 7, 2})}, {int64_t{0}})),
              ElementsAre(0, 2000));
}

TEST(GatesTest, GeGluGatesByTheSecondHalf) {
  const auto outputs = AllOutputs(CallOf("GeGlu", {Floats({2, 3, 0, 100})}, {int64_t{0}, "none"}));
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT((*outputs)[0].Values(), ElementsAre(0, 300));
  EXPECT_THAT((*outputs)[1].Values(), ElementsAre(0, 100));
  // Its gradient takes gelu as it is given.
  EXPECT_THAT(*FirstOutput(CallOf("GeGluBackward", {Floats({2}), Floats({3, 0}), Floats({7})},
                                  {int64_t{0}, "none"})),
              ElementsAre(14, 3));
}

TEST(GatesTest, GeluOfAGateIsByTanhUnlessTold) {
  const auto values = [](std::vector<AttributeValue> attributes) {
    return *FirstOutput(CallOf("GeGlu", {Floats({1, 2})}, std::move(attributes)));
  };
  EXPECT_EQ(values({}), values({int64_t{-1}, "tanh"}));
  EXPECT_NE(values({}), values({int64_t{-1}, "none"}));
}

TEST(GatesTest, FarFromZeroPrecisionStays) {
  // e^-100 is no number of float32's, a product with it is.
  const double decayed = 3e38 * std::exp(-100.0);
  EXPECT_NEAR(FirstOutput(CallOf("Glu", {Floats({3e38, -100})}, {}))->front() / decayed, 1, 1e-6);
  EXPECT_NEAR(FirstOutput(CallOf("SwiGlu", {Floats({-100, 3e38})}, {}))->front() / decayed, -100,
              1e-4);
}

TEST(GatesTest, NoResultDependsOnItsNeighbours) {
  const auto halves = [](std::optional<size_t> only) {
    std::vector<double> values = MixedValues(0, only);
    const std::vector<double> second = MixedValues(1, only);
    values.insert(values.end(), second.begin(), second.end());
    return Floats(values);
  };
  struct Gate {
    std::string_view op;
    bool gradient;
    bool takes_gelu = false;
    std::vector<AttributeValue> attributes = {};
  };
  const std::vector<AttributeValue> exact = {int64_t{-1}, "none"};
  const Gate gates[] = {{"Glu", false},
                        {"GluBackward", true},
                        {"SwiGlu", false},
                        {"SwiGluGrad", true},
                        {"GeGlu", false},
                        {"GeGluBackward", true, true},
                        {"GeGlu", false, false, exact},
                        {"GeGluBackward", true, true, exact}};
  for (const Gate& gate : gates) {
    const auto result = [&](std::optional<size_t> only) {
      std::vector<std::optional<TestTensor>> inputs;
      if (gate.gradient) inputs.emplace_back(Floats(MixedValues(2, only)));
      inputs.emplace_back(halves(only));
      if (gate.takes_gelu) inputs.emplace_back(Floats(MixedValues(3, only)));
      return *FirstOutput(CallOf(gate.op, inputs, gate.attributes));
    };
    const std::vector<double> mixed = result(std::nullopt);
    for (size_t i = 0; i < mixed.size(); ++i)
      EXPECT_TRUE(SameNumber(mixed[i], result(i % kMixedValues)[i])) << gate.op << " at " << i;
  }
}

TEST(GatesTest, HalvesNeedAnEvenExtent) {
  ExpectError(Refusal(CallOf("Glu", {Floats({1, 2, 3})}, {})), kParamInvalid, "self");
  ExpectError(Refusal(CallOf("Glu", {TestTensor::Full(DType::kFloat32, {}, 1)}, {})), kParamInvalid,
              "self");
  ExpectError(Refusal(CallOf("Glu", {Floats({1, 2})}, {int64_t{1}})), kParamInvalid, "dim");
  ExpectError(Refusal(CallOf("SwiGluGrad", {Floats({1, 2}), Floats({1, 2})}, {})), kParamInvalid,
              "y_grad");
}

}  // namespace
}  // namespace opserve::testing
