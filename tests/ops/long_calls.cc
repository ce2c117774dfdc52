#include "tests/ops/long_calls.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/op/op_table.h"
#include "gtest/gtest.h"

namespace opserve::testing {
namespace {

// One element in memory for all.
TensorDesc Repeated(DType dtype, const Dims& shape) {
  TensorDesc desc = TensorDesc::Dense(dtype, shape);
  desc.strides.assign(shape.size(), 0);
  return desc;
}

// One row of the innermost dimension for all.
TensorDesc RepeatedRow(DType dtype, const Dims& shape) {
  TensorDesc desc = Repeated(dtype, shape);
  desc.strides.back() = 1;
  return desc;
}

OpCall Draft(std::string_view op, const std::vector<TensorDesc>& inputs,
             const std::vector<AttributeValue>& attributes) {
  OpCall call = MakeOpCall(**FindOperator(op), Profile::kHost);
  for (size_t i = 0; i < inputs.size(); ++i) call.inputs[i] = inputs[i];
  for (size_t i = 0; i < attributes.size(); ++i) call.attributes[i] = attributes[i];
  return call;
}

LongCall Planned(std::string label, OpCall call) {
  const absl::Status status = PlanCall(call);
  EXPECT_TRUE(status.ok()) << label << ": " << status;
  for (OutputSlot& slot : call.outputs) slot.desc = Repeated(slot.desc.dtype, slot.desc.shape);
  return {.label = std::move(label), .call = std::move(call)};
}

constexpr DType kF32 = DType::kFloat32;
constexpr DType kF64 = DType::kFloat64;

std::vector<LongCall> ElementwiseCalls(const Operator& op) {
  const bool loss = op.FindAttribute("reduction") >= 0;
  std::vector<LongCall> calls;
  const auto add = [&](std::string_view label, const std::vector<DType>& dtypes, const Dims& shape,
                       int64_t reduction) {
    std::vector<TensorDesc> inputs;
    for (size_t i = 0; i < op.inputs.size(); ++i)
      inputs.push_back(Repeated(dtypes[i % dtypes.size()], shape));
    std::vector<AttributeValue> attributes = {0.5};
    if (loss) attributes = {reduction};
    calls.push_back(Planned(std::string(label), Draft(op.name, inputs, attributes)));
  };
  add("elements", {kF32}, {int64_t{1} << 57}, 0);
  add("rows", {DType::kFloat16, DType::kBFloat16}, {int64_t{1} << 38, 3}, 0);
  if (!loss) return calls;
  add("mean", {kF32}, {int64_t{1} << 48}, 1);
  add("sum", {DType::kBFloat16}, {int64_t{1} << 20, 1 << 20}, 2);
  if (op.name.starts_with("L1Loss")) add("integers", {DType::kInt64, kF32}, {int64_t{1} << 40}, 1);
  return calls;
}

struct Norm {
  std::string_view label;
  int64_t n, c, hw, group;
  absl::Duration stop_after = absl::Milliseconds(80);
};

OpCall NormCall(std::string_view op, const Norm& norm) {
  const TensorDesc data = Repeated(kF32, {norm.n, norm.c, norm.hw});
  const std::vector<AttributeValue> sizes = {norm.n, norm.c, norm.hw, norm.group};
  if (op == "GroupNorm") return Draft(op, {data}, sizes);
  const TensorDesc statistics = Repeated(kF32, {norm.n, norm.group});
  return Draft(op, {data, data, statistics, statistics, Repeated(kF32, {norm.c})}, sizes);
}

std::vector<LongCall> GroupNormCalls(const Operator& op) {
  constexpr int64_t kHuge = int64_t{1} << 36;
  const absl::Duration soon = absl::Milliseconds(50);  // their parameters take memory
  const Norm norms[] = {
      {"batches", kHuge, 4, 64, 2},
      {"flat_batches", kHuge, 4, 3, 2},
      {"single_elements", kHuge, 1, 1, 1},
      {"channels", 1, kHuge, 1, kHuge, soon},
      {"channels_of_a_group", 1, kHuge, 33, 1, soon},
      {"area", 1, 2, kHuge, 1},
      {"areas_of_many_groups", 32, 32, kHuge, 32},
      {"split_rows", 1 << 14, 1 << 16, 64, 1},
      {"split_short_rows", 1 << 14, 1 << 18, 8, 1},
      {"whole_groups", 1 << 24, 1 << 9, 256, 1},
  };
  std::vector<LongCall> calls;
  for (const Norm& norm : norms) {
    calls.push_back(Planned(std::string(norm.label), NormCall(op.name, norm)));
    calls.back().stop_after = norm.stop_after;
  }
  // Nothing in the groups, but statistics of each.
  if (op.name == "GroupNorm")
    calls.push_back(Planned("empty_groups", NormCall(op.name, {"", kHuge, 4, 0, 4})));
  return calls;
}

struct Ctc {
  std::string_view label;
  int64_t t, n, c, s;
  int64_t input_length;
  DType dtype = kF32;
  absl::Duration stop_after = absl::Milliseconds(80);
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

std::vector<LongCall> CtcLossCalls(const Operator& op) {
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

}  // namespace

void PrintTo(const LongCall& call, std::ostream* out) {
  *out << call.call.op->name << " " << call.label;
}

std::vector<LongCall> LongCallsOf(const Operator& op) {
  std::vector<LongCall> calls;
  if (op.name.starts_with("GroupNorm")) {
    calls = GroupNormCalls(op);
  } else if (op.name.starts_with("CtcLoss")) {
    calls = CtcLossCalls(op);
  } else if (op.runs_in_pieces != nullptr) {
    calls = ElementwiseCalls(op);
  }
  EXPECT_FALSE(calls.empty()) << "tests/ops/long_calls.cc has no calls of " << op.name;
  return calls;
}

std::vector<LongCall> CallsWithLongEnds() {
  OpCall rows = NormCall("GroupNormBackward", {"", 1, 1 << 21, 32, 1});
  // Quick to read, so that the sums of the rows are soon there.
  for (auto& input : rows.inputs) input = TensorDesc::Dense(input->dtype, input->shape);
  rows.attributes.back() = std::vector<bool>{false, true, true};
  return {Planned("sums_of_rows", rows)};
}

}  // namespace opserve::testing
