// CtcLoss and CtcLossBackward: what is refused, in which phase, by which name, and in which order.
#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/ctc_calls.h"
#include "tests/support/errors.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

absl::Status Plan(const OpCase& op_case) { return PlanCase(op_case).status(); }

// The good call with one tensor exchanged for one of this shape.
void ExpectShapeRefused(std::optional<TestTensor> CtcTensors::*tensor, const Dims& shape,
                        std::string_view parameter) {
  SCOPED_TRACE(parameter);
  CtcTensors tensors = GoodCtc();
  tensors.*tensor = TestTensor::Full((tensors.*tensor)->desc().dtype, shape, 0);
  ExpectInvalid(CtcBackwardCall(tensors, GoodCtcAttributes()), parameter);
}

TEST(CtcLossBackwardChecksTest, RanksAndExtentsMustAgree) {
  ExpectShapeRefused(&CtcTensors::grad_out, {}, "grad_out");
  ExpectShapeRefused(&CtcTensors::grad_out, {2}, "grad_out");
  ExpectShapeRefused(&CtcTensors::log_probs, {2, 2}, "log_probs");
  ExpectShapeRefused(&CtcTensors::log_probs, {0, 1, 2}, "log_probs");
  ExpectShapeRefused(&CtcTensors::targets, {}, "targets");
  ExpectShapeRefused(&CtcTensors::targets, {1, 1, 1}, "targets");
  ExpectShapeRefused(&CtcTensors::targets, {2, 1}, "targets");
  ExpectShapeRefused(&CtcTensors::targets, {1, 0}, "targets");
  ExpectShapeRefused(&CtcTensors::targets, {2}, "targets");
  ExpectShapeRefused(&CtcTensors::targets, {0}, "targets");
  ExpectShapeRefused(&CtcTensors::neg_log_likelihood, {1, 1}, "neg_log_likelihood");
  ExpectShapeRefused(&CtcTensors::neg_log_likelihood, {3}, "neg_log_likelihood");
  ExpectShapeRefused(&CtcTensors::log_alpha, {2, 3}, "log_alpha");
  ExpectShapeRefused(&CtcTensors::log_alpha, {2, 2, 3}, "log_alpha");
  ExpectShapeRefused(&CtcTensors::log_alpha, {1, 3, 3}, "log_alpha");
  ExpectShapeRefused(&CtcTensors::log_alpha, {1, 2, 2}, "log_alpha");
}

TEST(CtcLossBackwardChecksTest, AttributesHaveBounds) {
  const auto plan = [](const CtcAttributes& attributes) {
    return CtcBackwardCall(GoodCtc(), attributes);
  };
  ExpectInvalid(plan({{2}, {1}, -1}), "blank");
  ExpectInvalid(plan({{2}, {1}, 2}), "blank");
  EXPECT_THAT(Plan(plan({{2}, {1}, 1})), IsOk());
  ExpectInvalid(plan({{3}, {1}}), "input_lengths");
  ExpectInvalid(plan({{-1}, {1}}), "input_lengths");
  ExpectInvalid(plan({{}, {1}}), "input_lengths");
  ExpectInvalid(plan({{2, 2}, {1}}), "input_lengths");
  ExpectInvalid(plan({{2}, {-1}}), "target_lengths");
  ExpectInvalid(plan({{2}, {1, 1}}), "target_lengths");
  ExpectInvalid(plan({{2}, {2}}), "targets");
  ExpectInvalid(plan({{2}, {std::numeric_limits<int64_t>::max()}}), "targets");
}

TEST(CtcLossBackwardChecksTest, WithoutClassesNoBlankFits) {
  CtcTensors tensors = GoodCtc();
  tensors.log_probs = TestTensor::Of(kF64, {2, 1, 0}, {});
  ExpectInvalid(CtcBackwardCall(tensors, GoodCtcAttributes()), "blank");
}

TEST(CtcLossBackwardChecksTest, OneDtypeForAllButTheLabels) {
  const auto expect = [](std::optional<TestTensor> CtcTensors::*tensor,
                         std::string_view parameter) {
    CtcTensors tensors = GoodCtc();
    const TestTensor& old = *(tensors.*tensor);
    tensors.*tensor = TestTensor::Of(DType::kFloat32, old.desc().shape, old.Values());
    ExpectInvalid(CtcBackwardCall(tensors, GoodCtcAttributes()), parameter);
  };
  expect(&CtcTensors::grad_out, "grad_out");
  expect(&CtcTensors::log_probs, "grad_out");  // the others are measured by log_probs
  expect(&CtcTensors::neg_log_likelihood, "neg_log_likelihood");
  expect(&CtcTensors::log_alpha, "log_alpha");
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16})
    ExpectInvalid(CtcBackwardCall(GoodCtc(dtype), GoodCtcAttributes()), "log_probs");
  OpCase op_case = CtcBackwardCall(GoodCtc(), GoodCtcAttributes());
  op_case.output_dtypes = {DType::kFloat32};
  ExpectInvalid(op_case, "grad");
}

TEST(CtcLossBackwardChecksTest, LabelsHaveOneOfFiveDtypes) {
  for (const DType dtype :
       {DType::kInt8, DType::kInt16, DType::kUint8, DType::kFloat64, DType::kBFloat16}) {
    CtcTensors tensors = GoodCtc();
    tensors.targets = Labels({1}, {1}, dtype);
    ExpectInvalid(CtcBackwardCall(tensors, GoodCtcAttributes()), "targets");
  }
}

TEST(CtcLossBackwardChecksTest, LabelsAreReadInPhaseTwo) {
  const auto expect = [](DType dtype, double label) {
    SCOPED_TRACE(label);
    CtcTensors tensors = GoodCtc();
    tensors.targets = Labels({1, 1}, {label}, dtype);
    const OpCase backward = CtcBackwardCall(tensors, GoodCtcAttributes());
    EXPECT_THAT(Plan(backward), IsOk());
    ExpectError(AllOutputs(backward).status(), kParamInvalid, "targets");
    const OpCase forward = CtcCall(*tensors.log_probs, *tensors.targets, GoodCtcAttributes());
    EXPECT_THAT(Plan(forward), IsOk());
    ExpectError(AllOutputs(forward).status(), kParamInvalid, "targets");
  };
  for (const DType dtype : {DType::kInt64, DType::kInt32, DType::kFloat32, DType::kFloat16}) {
    expect(dtype, -1);
    expect(dtype, 2);
  }
  for (const DType dtype : {DType::kFloat32, DType::kFloat16}) {
    for (const double label : {0.5, 1 + 0x1p-10, -0.5, kNaN, kInfinity, -kInfinity})
      expect(dtype, label);
  }
}

TEST(CtcLossBackwardChecksTest, EveryLabelOfEverySampleIsRead) {
  const CtcAttributes attributes = {{0, 2}, {2, 1}};
  const TestTensor log_probs = TestTensor::Full(kF64, {2, 2, 2}, -1);
  const auto status = [&](const TestTensor& targets) {
    return AllOutputs(CtcCall(log_probs, targets, attributes)).status();
  };
  EXPECT_THAT(status(Labels({3}, {1, 1, 1})), IsOk());
  // Also those of a sample without steps.
  ExpectError(status(Labels({3}, {1, 7, 1})), kParamInvalid, "targets");
  ExpectError(status(Labels({3}, {1, 1, 7})), kParamInvalid, "targets");
  // But no padding.
  EXPECT_THAT(status(Labels({2, 3}, {1, 1, 7, 1, 7, 7})), IsOk());
  ExpectError(status(Labels({2, 2}, {1, 1, 7, 1})), kParamInvalid, "targets");
}

TEST(CtcLossBackwardChecksTest, AGivenOutputHasTheShapeOfLogProbs) {
  absl::StatusOr<OpCall> call = BindCase(CtcBackwardCall(GoodCtc(), GoodCtcAttributes()));
  ASSERT_THAT(call, IsOk());
  call->outputs[0].origin = OutputSlot::Origin::kGiven;
  call->outputs[0].desc = TensorDesc::Dense(DType::kFloat32, Dims{2, 2});
  const absl::Status status = PlanCall(*call);
  ExpectError(status, kParamInvalid, "grad");
  // The shape before the dtype.
  EXPECT_THAT(GetErrorDetail(status)->want, ::testing::HasSubstr("shape"));
}

// Everything is wrong at first; each step mends what was reported.
TEST(CtcLossBackwardChecksTest, ShapesComeInTheirOrder) {
  CtcTensors tensors = {.grad_out = std::nullopt,
                        .log_probs = TestTensor::Full(DType::kFloat16, {0, 1}, 0),
                        .targets = TestTensor::Full(DType::kInt8, {}, 0),
                        .neg_log_likelihood = TestTensor::Full(DType::kInt32, {}, 0),
                        .log_alpha = TestTensor::Full(DType::kBool, {2, 2}, 0)};
  CtcAttributes attributes = {{9}, {-3}, 7};
  const auto call = [&] { return CtcBackwardCall(tensors, attributes); };
  ExpectError(Plan(call()), kParamNullptr, "grad_out");
  tensors.grad_out = TestTensor::Full(DType::kBool, {}, 0);
  ExpectInvalid(call(), "grad_out");
  tensors.grad_out = TestTensor::Full(DType::kBool, {5}, 0);
  ExpectInvalid(call(), "log_probs");
  tensors.log_probs = TestTensor::Full(DType::kFloat16, {0, 1, 2}, 0);
  ExpectInvalid(call(), "targets");
  tensors.targets = TestTensor::Full(DType::kInt8, {4, 0}, 0);
  ExpectInvalid(call(), "neg_log_likelihood");
  tensors.neg_log_likelihood = TestTensor::Full(DType::kInt32, {5}, 0);
  ExpectInvalid(call(), "log_alpha");
  tensors.log_alpha = TestTensor::Full(DType::kBool, {1, 3, 1}, 0);
  ExpectInvalid(call(), "log_probs");  // T > 0
  tensors.log_probs = TestTensor::Full(DType::kFloat16, {2, 1, 2}, 0);
  ExpectInvalid(call(), "grad_out");  // N, T and C agree
  tensors.grad_out = TestTensor::Full(DType::kBool, {1}, 0);
  ExpectInvalid(call(), "targets");
  tensors.targets = TestTensor::Full(DType::kInt8, {1, 0}, 0);
  ExpectInvalid(call(), "neg_log_likelihood");
  tensors.neg_log_likelihood = TestTensor::Full(DType::kInt32, {1}, 0);
  ExpectInvalid(call(), "log_alpha");
  tensors.log_alpha = TestTensor::Full(DType::kBool, {1, 2, 1}, 0);
  ExpectInvalid(call(), "blank");
}

TEST(CtcLossBackwardChecksTest, ValuesAndThenDtypesComeInTheirOrder) {
  CtcTensors tensors = {.grad_out = TestTensor::Full(DType::kBool, {1}, 0),
                        .log_probs = TestTensor::Full(DType::kFloat16, {2, 1, 2}, 0),
                        .targets = TestTensor::Full(DType::kInt8, {1, 0}, 0),
                        .neg_log_likelihood = TestTensor::Full(DType::kInt32, {1}, 0),
                        .log_alpha = TestTensor::Full(DType::kBool, {1, 2, 1}, 0)};
  CtcAttributes attributes = {{9}, {-3}, 0};
  const auto call = [&] { return CtcBackwardCall(tensors, attributes); };
  ExpectInvalid(call(), "input_lengths");
  attributes.input_lengths = {2};
  ExpectInvalid(call(), "target_lengths");
  attributes.target_lengths = {1};
  ExpectInvalid(call(), "targets");
  tensors.targets = TestTensor::Full(DType::kInt8, {1, 1}, 1);
  ExpectInvalid(call(), "log_alpha");  // W
  tensors.log_alpha = TestTensor::Full(DType::kBool, {1, 2, 3}, 0);
  ExpectInvalid(call(), "log_probs");  // only now the dtypes
  tensors.log_probs = TestTensor::Full(DType::kFloat32, {2, 1, 2}, 0);
  ExpectInvalid(call(), "grad_out");
}

TEST(CtcLossBackwardChecksTest, NobodyIsForTheHostAlone) {
  const CtcTensors tensors = {.grad_out = TestTensor::Of(kF64, {0}, {}),
                              .log_probs = TestTensor::Of(kF64, {2, 0, 3}, {}),
                              .targets = Labels({0}, {}),
                              .neg_log_likelihood = TestTensor::Of(kF64, {0}, {}),
                              .log_alpha = TestTensor::Of(kF64, {0, 2, 1}, {})};
  const OpCase backward = CtcBackwardCall(tensors, {{}, {}});
  const OpCase forward = CtcCall(*tensors.log_probs, *tensors.targets, {{}, {}});
  EXPECT_THAT(Plan(backward), IsOk());
  for (const Profile profile : {Profile::kAtlasA2, Profile::kAtlasA3, Profile::kAtlasTraining}) {
    ExpectInvalid(backward, "log_probs", profile);
    ExpectInvalid(forward, "log_probs", profile);
  }
}

TEST(CtcLossBackwardChecksTest, EveryProductThatHasItTakesBothDtypes) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const OpCase op_case = CtcBackwardCall(GoodCtc(dtype), GoodCtcAttributes());
    for (const Profile profile : {Profile::kAtlasA2, Profile::kAtlasA3, Profile::kAtlasTraining})
      EXPECT_THAT(PlanCase(op_case, profile), IsOk()) << ProfileName(profile);
    const absl::Status status = PlanCase(op_case, Profile::kAtlasInference).status();
    ExpectError(status, ErrorReason::kOperatorUnsupported, "device");
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  }
}

TEST(CtcLossChecksTest, AlphaIsWideEnoughOrRefused) {
  const OpCase op_case = CtcCall(*GoodCtc().log_probs, Labels({1}, {1}), GoodCtcAttributes());
  const auto plan = [&](const Dims& shape) {
    absl::StatusOr<OpCall> call = BindCase(op_case);
    EXPECT_THAT(call, IsOk());
    call->outputs[1].requested_shape = shape;
    return PlanCall(*call);
  };
  EXPECT_THAT(plan({1, 2, 3}), IsOk());
  EXPECT_THAT(plan({1, 2, 40}), IsOk());
  for (const Dims& shape : {Dims{1, 2, 2}, Dims{1, 3, 3}, Dims{2, 2, 3}, Dims{2, 3}})
    ExpectError(plan(shape), kParamInvalid, "log_alpha");
}

TEST(CtcLossChecksTest, ChecksComeInTheirOrder) {
  const TestTensor bad_rank = TestTensor::Full(DType::kFloat16, {2, 2}, 0);
  const TestTensor bad_dtype = TestTensor::Full(DType::kFloat16, {2, 1, 2}, 0);
  const TestTensor bad_labels = TestTensor::Full(DType::kInt8, {3, 1}, 0);
  const TestTensor labels = TestTensor::Full(DType::kInt8, {1, 1}, 0);
  OpCase nothing = CtcCall(bad_rank, bad_labels, {{9}, {-1}, 5});
  nothing.inputs[1].reset();
  ExpectError(Plan(nothing), kParamNullptr, "targets");
  nothing = CtcCall(bad_rank, bad_labels, {{9}, {-1}, 5});
  nothing.attributes[1] = std::monostate();
  ExpectError(Plan(nothing), kParamNullptr, "target_lengths");
  ExpectInvalid(CtcCall(bad_rank, bad_labels, {{9}, {-1}, 5}), "log_probs");
  ExpectInvalid(CtcCall(bad_dtype, bad_labels, {{9}, {-1}, 5}), "targets");
  ExpectInvalid(CtcCall(bad_dtype, labels, {{9}, {-1}, 5}), "blank");
  ExpectInvalid(CtcCall(bad_dtype, labels, {{9}, {-1}, 0}), "input_lengths");
  ExpectInvalid(CtcCall(bad_dtype, labels, {{2}, {-1}, 0}), "target_lengths");
  ExpectInvalid(CtcCall(bad_dtype, labels, {{2}, {2}, 0}), "targets");
  ExpectInvalid(CtcCall(bad_dtype, labels, {{2}, {1}, 0}), "log_probs");
  const TestTensor good = TestTensor::Full(DType::kFloat32, {2, 1, 2}, 0);
  ExpectInvalid(CtcCall(good, labels, {{2}, {1}, 0}), "targets");
}

}  // namespace
}  // namespace opserve::testing
