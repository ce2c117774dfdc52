// The tests' CtcLoss and CtcLossBackward; their references and cases are in tests/support.
#include "absl/strings/str_cat.h"
#include "tests/support/calls.h"
#include "tests/support/case_rows.h"
#include "tests/support/gradient_values.h"
#include "tests/support/log_softmax.h"
#include "tests/support/operator_test.h"
#include "tests/support/reference_rows.h"

namespace opserve::testing::ctc_loss {
namespace {

constexpr DType kF32 = DType::kFloat32;
constexpr DType kF64 = DType::kFloat64;

struct CtcSizes {
  int64_t steps, batch, classes, labels;
};
constexpr CtcSizes kCtcSizes[] = {{50, 8, 20, 20}, {150, 2, 500, 30}, {500, 2, 80, 100}};

OpCase MeasuredForward(const CtcSizes& size, DType dtype, Rng& rng) {
  const std::vector<int64_t> steps(static_cast<size_t>(size.batch), size.steps);
  const std::vector<int64_t> labels(static_cast<size_t>(size.batch), size.labels);
  OpCase op_case = CallOf("CtcLoss", {}, {steps, labels, int64_t{0}, false});
  op_case.label = absl::StrCat("T", size.steps);
  const Dims shape = {size.steps, size.batch, size.classes};
  TestTensor targets = TestTensor::Full(DType::kInt64, {size.batch, size.labels}, 1);
  for (int64_t i = 0; i < targets.count(); ++i)
    targets.Set(i, static_cast<int64_t>(1 + rng() % static_cast<uint64_t>(size.classes - 1)));
  op_case.inputs = {
      LogSoftmax(dtype, shape, TestTensor::Random(DType::kFloat64, shape, rng).Values()), targets};
  return op_case;
}

// α and the loss of a forward, rounded.
OpCase MeasuredBackward(const CtcSizes& size, DType dtype, Rng& rng) {
  const OpCase forward = MeasuredForward(size, dtype, rng);
  const std::vector<Reference> results = ReferenceOf(forward);
  const Dims alpha = {size.batch, size.steps, 2 * size.labels + 1};
  OpCase op_case = CallOf("CtcLossBackward", {}, forward.attributes);
  op_case.label = forward.label;
  op_case.inputs = {TestTensor::Random(dtype, {size.batch}, rng), forward.inputs[0],
                    forward.inputs[1], TestTensor::Of(dtype, {size.batch}, results[0].values),
                    TestTensor::Of(dtype, alpha, results[1].values)};
  return op_case;
}

std::vector<OpCase> AccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  const auto make = op.name == "CtcLoss" ? MeasuredForward : MeasuredBackward;
  std::vector<OpCase> cases;
  for (const CtcSizes& size : kCtcSizes) cases.push_back(make(size, dtype, rng));
  return cases;
}

// One row of the innermost dimension for all.
TensorDesc RepeatedRow(DType dtype, const Dims& shape) {
  TensorDesc desc = Repeated(dtype, shape);
  desc.strides.back() = 1;
  return desc;
}

struct Ctc {
  std::string_view label;
  int64_t t, n, c, s;
  int64_t input_length;
  DType dtype = kF32;
  absl::Duration stop_after = kSoon;
};

OpCall CtcCall(std::string_view op, const Ctc& ctc) {
  const auto lengths = [&](int64_t each) {
    return std::vector<int64_t>(static_cast<size_t>(ctc.n), each);
  };
  const TensorDesc log_probs = Repeated(ctc.dtype, {ctc.t, ctc.n, ctc.c});
  const TensorDesc targets = Repeated(DType::kInt64, {ctc.n, ctc.s});
  const std::vector<AttributeValue> attributes = {lengths(ctc.input_length), lengths(ctc.s),
                                                  ctc.c - 1, false};
  if (op == "CtcLoss") return Draft(op, {log_probs, targets}, attributes);
  const TensorDesc losses = Repeated(ctc.dtype, {ctc.n});
  return Draft(
      op, {losses, log_probs, targets, losses, Repeated(ctc.dtype, {ctc.n, ctc.t, 2 * ctc.s + 1})},
      attributes);
}

// The same with rows of classes, or of the lattice, that lie side by side.
LongCall InRows(LongCall call) {
  call.label += "_in_rows";
  for (auto& input : call.call.inputs) {
    if (input->rank() == 3) input = RepeatedRow(input->dtype, input->shape);
  }
  for (OutputSlot& slot : call.call.outputs) {
    if (slot.desc.rank() == 3) slot.desc = RepeatedRow(slot.desc.dtype, slot.desc.shape);
  }
  return call;
}

std::vector<LongCall> LongCalls(const Operator& op) {
  constexpr int64_t kHuge = int64_t{1} << 36;
  const absl::Duration later = absl::Milliseconds(300);
  const Ctc all[] = {
      {"steps", kHuge, 1, 4, 3, kHuge},
      {"steps_f64", kHuge, 8, 4, 3, kHuge, kF64},
      {"steps_beyond_the_input", kHuge, 8, 4, 3, 0},
      {"steps_without_labels", kHuge, 1, 1, 0, kHuge},
      {"samples", 1 << 12, 1 << 18, 4, 3, 1 << 12},
      {"samples_without_input", 1 << 12, 1 << 18, 4, 3, 0},
      {"labels", 1 << 4, 1, 4, 1 << 26, 1 << 4},
      {"steps_of_labels", 1 << 11, 1, 4, 1 << 20, 1 << 11, kF32, later},
      {"steps_of_labels_f64", 1 << 11, 1, 4, 1 << 20, 1 << 11, kF64, later},
  };
  std::vector<LongCall> calls;
  const auto add = [&](const Ctc& ctc) {
    calls.push_back(Planned(std::string(ctc.label), CtcCall(op.name, ctc)));
    calls.back().stop_after = ctc.stop_after;
    if (ctc.stop_after == later) calls.push_back(InRows(calls.back()));
  };
  for (const Ctc& ctc : all) add(ctc);
  if (op.name == "CtcLoss") {
    OpCall wide = CtcCall(op.name, {"", 1, 1, 4, 3, 1});
    wide.outputs[1].requested_shape = Dims{1, 1, kHuge};
    calls.push_back(Planned("lattice_wider_than_its_labels", wide));
    return calls;
  }
  add({"classes_of_many", 1 << 8, 8, 1 << 23, 3, 1 << 8, kF32, later});
  add({"classes_of_few", 1 << 11, 1, 1 << 23, 3, 1, kF64, later});
  add({"classes_beyond_the_input", 1 << 8, 8, 1 << 23, 3, 0});
  return calls;
}

// The variable is the logits: log_softmax is part of what is derived. Labels may repeat.
GradientProblem MakeProblem(Rng& rng, int turn) {
  const Dims shape = {9, 2, 4};
  const std::vector<int64_t> lengths = {9, 7 + turn % 3};
  const std::vector<int64_t> label_counts = {3, turn % 4};
  const std::vector<AttributeValue> attributes = {lengths, label_counts, int64_t{turn % 2}, false};
  TestTensor targets = TestTensor::Full(DType::kInt64, {2, 3}, 0);
  for (int64_t i = 0; i < 6; ++i) targets.Set(i, static_cast<int64_t>(2 + rng() % 2));
  const TestTensor grad = As(DType::kFloat64, Normal({2}, rng));
  GradientProblem problem;
  problem.variables = {TestTensor::Random(DType::kFloat64, shape, rng).Values()};
  problem.weights = grad.Values();
  problem.forward = [=](size_t, const std::vector<double>& logits, DType dtype) {
    return CallOf("CtcLoss", {LogSoftmax(dtype, shape, logits), targets}, attributes);
  };
  const OpCase forward = problem.forward(0, problem.variables[0], DType::kFloat64);
  const std::vector<Reference> results = ReferenceOf(forward);
  const auto width = static_cast<int64_t>(results[1].values.size()) / 18;
  problem.backward = CallOf(
      "CtcLossBackward",
      {grad, forward.inputs[0], targets, TestTensor::Of(DType::kFloat64, {2}, results[0].values),
       TestTensor::Of(DType::kFloat64, {2, 9, width}, results[1].values)},
      attributes);
  return problem;
}

}  // namespace

extern const OperatorTest kCtcLossTest = {
    .reference = CtcLossReference,
    .cases = CtcLossCases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .aten = "_ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity)",
};

extern const OperatorTest kCtcLossBackwardTest = {
    .reference = CtcLossBackwardReference,
    .cases = CtcLossCases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .aten =
        "_ctc_loss_backward(grad_out, log_probs, targets, input_lengths, target_lengths, "
        "neg_log_likelihood, log_alpha, blank, zero_infinity)",
    // The forward has a third derivative of its softmax's size: 1e-10 times 8.
    .gradient = {.problem = MakeProblem,
                 .tolerance = 1e-12,
                 .dtype = DType::kFloat64,
                 .step = 1e-5,
                 .truncation = 8e-10},
};

}  // namespace opserve::testing::ctc_loss
