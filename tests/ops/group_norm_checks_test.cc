// GroupNorm and GroupNormBackward: what is refused, by which name, and in which order.
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/group_norm_calls.h"
#include "tests/support/errors.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing::group_norm_checks {
namespace {

using ::testing::ElementsAre;

const Dims kRank9 = {1, 1, 1, 1, 1, 1, 1, 1, 8};

absl::Status Plan(const OpCase& op_case) { return PlanCase(op_case).status(); }

OpCall Bound(const OpCase& op_case) {
  absl::StatusOr<OpCall> call = BindCase(op_case);
  EXPECT_THAT(call, IsOk());
  return *std::move(call);
}

TEST(GroupNormBackwardChecksTest, AttributesHaveBounds) {
  const GroupNormTensors good = GoodGradient();
  ExpectInvalid(GroupNormBackwardCall(good, {-2, 2, 2, 1}), "N");
  ExpectInvalid(GroupNormBackwardCall(good, {2, -2, 2, 1}), "C");
  ExpectInvalid(GroupNormBackwardCall(good, {2, 2, -2, 1}), "HxW");
  ExpectInvalid(GroupNormBackwardCall(good, {2, 2, 2, 0}), "group");
  ExpectInvalid(GroupNormBackwardCall(good, {2, 2, 2, -1}), "group");
  ExpectInvalid(GroupNormBackwardCall(good, {2, 2, 2, 4}), "group");
  ExpectInvalid(GroupNormBackwardCall(good, kGoodSizes, {true, true}), "output_mask");
  ExpectInvalid(GroupNormBackwardCall(good, kGoodSizes, {true, true, true, true}), "output_mask");
  ExpectInvalid(GroupNormBackwardCall(good, kGoodSizes, {}), "output_mask");
}

TEST(GroupNormBackwardChecksTest, ElementCountsMustBeThoseOfTheSizes) {
  const auto expect = [](std::optional<TestTensor> GroupNormTensors::*tensor, const Dims& shape,
                         std::string_view parameter) {
    GroupNormTensors tensors = GoodGradient();
    tensors.*tensor = TestTensor::Full(DType::kFloat32, shape, 1);
    ExpectInvalid(GroupNormBackwardCall(tensors, kGoodSizes), parameter);
  };
  expect(&GroupNormTensors::grad_out, {2, 2, 3}, "grad_out");
  expect(&GroupNormTensors::input, {7}, "input");
  expect(&GroupNormTensors::mean, {2, 2}, "mean");
  expect(&GroupNormTensors::rstd, {}, "rstd");
  expect(&GroupNormTensors::gamma, {3}, "gamma");
  expect(&GroupNormTensors::gamma, {0}, "gamma");
}

TEST(GroupNormBackwardChecksTest, SizesWhoseProductOverflowsAreRefused) {
  const int64_t huge = int64_t{1} << 31;
  ExpectInvalid(GroupNormBackwardCall(GoodGradient(), {huge, huge, 4, 1}), "grad_out");
}

TEST(GroupNormBackwardChecksTest, OneDtypeForAll) {
  const auto expect = [](std::optional<TestTensor> GroupNormTensors::*tensor,
                         std::string_view parameter) {
    GroupNormTensors tensors = GoodGradient();
    const TestTensor& old = *(tensors.*tensor);
    tensors.*tensor = TestTensor::Of(DType::kFloat16, old.desc().shape, old.Values());
    ExpectInvalid(GroupNormBackwardCall(tensors, kGoodSizes), parameter);
  };
  expect(&GroupNormTensors::input, "input");
  expect(&GroupNormTensors::mean, "mean");
  expect(&GroupNormTensors::rstd, "rstd");
  expect(&GroupNormTensors::gamma, "gamma");
  for (const DType dtype : {DType::kFloat64, DType::kInt32, DType::kUint8})
    ExpectInvalid(GroupNormBackwardCall(GoodGradient(dtype), kGoodSizes), "grad_out");
}

TEST(GroupNormBackwardChecksTest, OutputsHaveTheDtypeOfTheInputs) {
  for (size_t i = 0; i < 3; ++i) {
    OpCase op_case = GroupNormBackwardCall(GoodGradient(), kGoodSizes);
    op_case.output_dtypes = std::vector<DType>(3, DType::kFloat32);
    op_case.output_dtypes[i] = DType::kFloat16;
    ExpectInvalid(op_case, op_case.op->outputs[i].name);
    // One that is masked out may say what it likes.
    std::vector<bool> mask(3, true);
    mask[i] = false;
    op_case.attributes[4] = mask;
    EXPECT_THAT(Plan(op_case), IsOk());
  }
}

TEST(GroupNormBackwardChecksTest, AnOutputMayBeMissingWhereItIsMaskedOut) {
  for (size_t i = 0; i < 3; ++i) {
    std::vector<bool> mask(3, true);
    OpCall call = Bound(GroupNormBackwardCall(GoodGradient(), kGoodSizes, mask));
    call.outputs[i].origin = OutputSlot::Origin::kMissing;
    ExpectError(PlanCall(call), kParamInvalid, call.op->outputs[i].name);
    mask[i] = false;
    call = Bound(GroupNormBackwardCall(GoodGradient(), kGoodSizes, mask));
    call.outputs[i].origin = OutputSlot::Origin::kMissing;
    EXPECT_THAT(PlanCall(call), IsOk());
    EXPECT_FALSE(call.outputs[i].wanted);
  }
}

// The call with its outputs in the caller's memory, in these shapes.
absl::Status PlanWithShapes(const std::vector<Dims>& shapes, const std::vector<bool>& mask) {
  GroupNormTensors tensors = GoodGradient();
  tensors.gamma = TestTensor::Of(DType::kFloat32, {2, 1}, {2, 4});
  OpCall call = Bound(GroupNormBackwardCall(tensors, kGoodSizes, mask));
  for (size_t i = 0; i < 3; ++i) {
    call.outputs[i].origin = OutputSlot::Origin::kGiven;
    call.outputs[i].desc = TensorDesc::Dense(DType::kFloat32, shapes[i]);
  }
  return PlanCall(call);
}

TEST(GroupNormBackwardChecksTest, GivenOutputsHaveTheShapesOwed) {
  const std::vector<bool> all(3, true);
  const Dims data = {2, 2, 2};
  EXPECT_THAT(PlanWithShapes({data, {2, 1}, {2, 1}}, all), IsOk());
  EXPECT_THAT(PlanWithShapes({data, {2}, {2}}, all), IsOk());
  EXPECT_THAT(PlanWithShapes({data, {2, 1}, {2}}, all), IsOk());
  ExpectError(PlanWithShapes({{8}, {2}, {2}}, all), kParamInvalid, "grad_input");
  ExpectError(PlanWithShapes({data, {1, 2}, {2}}, all), kParamInvalid, "grad_gamma");
  ExpectError(PlanWithShapes({data, {2}, {3}}, all), kParamInvalid, "grad_beta");
  EXPECT_THAT(PlanWithShapes({data, {2}, {3}}, {true, true, false}), IsOk());
}

TEST(GroupNormBackwardChecksTest, ChecksComeInTheirOrder) {
  // Everything is wrong at first; each step mends what was reported.
  GroupNormTensors tensors = GoodGradient(DType::kFloat64);
  tensors.grad_out = std::nullopt;
  GroupNormSizes sizes = {2, 2, 2, 0};
  std::vector<bool> mask = {true};
  const auto call = [&] { return GroupNormBackwardCall(tensors, sizes, mask); };
  ExpectError(Plan(call()), kParamNullptr, "grad_out");
  tensors.grad_out = TestTensor::Full(DType::kFloat64, kRank9, 1);
  ExpectInvalid(call(), "grad_out");
  tensors.grad_out = TestTensor::Full(DType::kFloat32, kRank9, 1);
  ExpectInvalid(call(), "input");  // the dtypes come before the attributes
  tensors = GoodGradient();
  tensors.grad_out = TestTensor::Full(DType::kFloat32, kRank9, 1);
  tensors.input = TestTensor::Full(DType::kFloat32, {3}, 1);
  ExpectInvalid(call(), "output_mask");
  mask = {true, true, true};
  ExpectInvalid(call(), "group");  // the attributes before the ranks
  sizes.groups = 1;
  ExpectInvalid(call(), "grad_out");  // the ranks before the shapes
  tensors.grad_out = GoodGradient().grad_out;
  ExpectInvalid(call(), "input");
  tensors.input = GoodGradient().input;
  EXPECT_THAT(Plan(call()), IsOk());
}

TEST(GroupNormBackwardChecksTest, AtlasA2TakesUpToEightThousandChannelsAGroup) {
  const auto plan = [](int64_t channels, int64_t groups, Profile profile) {
    const TestTensor data = TestTensor::Full(DType::kFloat32, {channels}, 1);
    const TestTensor moments = TestTensor::Full(DType::kFloat32, {groups}, 1);
    const GroupNormTensors tensors = {data, data, moments, moments, std::nullopt};
    return PlanCase(GroupNormBackwardCall(tensors, {1, channels, 1, groups}), profile).status();
  };
  for (const Profile profile : {Profile::kAtlasA2, Profile::kAtlasA3}) {
    EXPECT_THAT(plan(8000, 1, profile), IsOk());
    EXPECT_THAT(plan(16000, 2, profile), IsOk());
    ExpectError(plan(8001, 1, profile), kParamInvalid, "C");
  }
  EXPECT_THAT(plan(8001, 1, Profile::kHost), IsOk());
  EXPECT_THAT(plan(8001, 1, Profile::kAtlasTraining), IsOk());
}

TEST(GroupNormBackwardChecksTest, AProductTakesItsOwnDtypesOnly) {
  const OpCase bf16 = GroupNormBackwardCall(GoodGradient(DType::kBFloat16), kGoodSizes);
  const OpCase f16 = GroupNormBackwardCall(GoodGradient(DType::kFloat16), kGoodSizes);
  EXPECT_THAT(PlanCase(bf16, Profile::kAtlasA2), IsOk());
  ExpectInvalid(bf16, "grad_out", Profile::kAtlasTraining);
  EXPECT_THAT(PlanCase(f16, Profile::kAtlasTraining), IsOk());
  const absl::Status status = PlanCase(f16, Profile::kAtlasInference).status();
  ExpectError(status, ErrorReason::kOperatorUnsupported, "device");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
}

TEST(GroupNormChecksTest, EpsIsPositive) {
  for (const double eps : {0.0, -1e-5, kNaN})
    ExpectInvalid(GroupNormCall(Floats({1, 2}), std::nullopt, std::nullopt, {1, 1, 2, 1}, eps),
                  "eps");
  OpCase op_case = GroupNormCall(Floats({1, 3}), std::nullopt, std::nullopt, {1, 1, 2, 1}, 3.0);
  EXPECT_THAT(*FirstOutput(op_case), ElementsAre(-0.5, 0.5));
  op_case.attributes[4] = std::monostate();
  const absl::StatusOr<OpCall> planned = PlanCase(op_case);
  ASSERT_THAT(planned, IsOk());
  EXPECT_EQ(planned->attribute<double>(4), 1e-5);
}

TEST(GroupNormChecksTest, ChecksComeInTheirOrder) {
  const TestTensor rank9 = TestTensor::Full(DType::kFloat32, kRank9, 1);
  const TestTensor half = TestTensor::Full(DType::kFloat16, {5}, 1);
  const TestTensor five = TestTensor::Full(DType::kFloat32, {5}, 1);
  OpCase nothing = GroupNormCall(rank9, half, std::nullopt, {2, 2, 2, 0}, 0);
  nothing.inputs[0].reset();
  ExpectError(Plan(nothing), kParamNullptr, "self");
  ExpectInvalid(GroupNormCall(rank9, half, std::nullopt, {2, 2, 2, 0}, 0), "gamma");
  ExpectInvalid(GroupNormCall(rank9, five, std::nullopt, {2, 2, 2, 0}, 0), "group");
  ExpectInvalid(GroupNormCall(rank9, five, std::nullopt, {2, 2, 2, 1}, 0), "eps");
  ExpectInvalid(GroupNormCall(rank9, five, std::nullopt, {2, 2, 2, 1}, 1), "self");
  const TestTensor eight = TestTensor::Full(DType::kFloat32, {8}, 1);
  ExpectInvalid(GroupNormCall(eight, five, five, {2, 2, 2, 1}, 1), "gamma");
  ExpectInvalid(GroupNormCall(eight, std::nullopt, five, {2, 2, 2, 1}, 1), "beta");
}

}  // namespace
}  // namespace opserve::testing::group_norm_checks
