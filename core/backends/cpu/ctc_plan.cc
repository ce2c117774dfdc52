#include "core/backends/cpu/ctc_plan.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/backends/cpu/pace.h"
#include "core/backends/cpu/read_once.h"
#include "core/backends/cpu/scratch.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::cpu {
namespace {

constexpr int64_t kMaxChunks = 64;
// Fewer samples than this leave threads idle, when there are enough classes for them.
constexpr int64_t kFewSamples = 8;
constexpr int64_t kStepElements = 16384;

const std::vector<int64_t>& TargetLengths(const OpCall& call) {
  return call.attribute<std::vector<int64_t>>(1);
}

CtcPlan PlanSamples(const OpCall& call, int log_probs, int64_t rows, ScratchPlan& scratch,
                    ScratchPlan& control) {
  const TensorDesc& desc = call.input(log_probs);
  CtcPlan plan;
  plan.t = desc.shape[0];
  plan.n = desc.shape[1];
  plan.c = desc.shape[2];
  plan.chunks = std::min(plan.n, kMaxChunks);
  int64_t longest = 0;
  int64_t sum = 0;  // at most the number of labels there are
  for (const int64_t length : TargetLengths(call)) {
    longest = std::max(longest, length);
    sum += length;
  }
  plan.row = (longest + 1 + kRowMargin - 1) / kRowMargin * kRowMargin + 2 * kRowMargin;
  plan.labels = control.Take(sum, sizeof(int64_t));
  plan.starts = control.Take(plan.n, sizeof(int64_t));
  plan.rows =
      scratch.Take(SaturatingProduct({plan.chunks * rows, plan.row}), DTypeSize(desc.dtype));
  return plan;
}

int64_t AsNumber(int64_t label) { return label; }
int64_t AsNumber(int32_t label) { return label; }
int64_t AsNumber(uint8_t boolean) { return boolean != 0 ? 1 : 0; }
float AsNumber(float label) { return label; }
float AsNumber(Float16 label) { return ToFloat(label); }

bool IsLabel(int64_t label, int64_t classes) { return label >= 0 && label < classes; }
bool IsLabel(float label, int64_t classes) {
  // NaN is in no comparison.
  return label >= 0 && static_cast<double>(label) < static_cast<double>(classes) &&
         label == std::floor(label);
}

absl::Status BadLabel(const CtcPlan& plan, const std::string& label, int64_t sample,
                      int64_t position) {
  return OutOfRange("targets", absl::StrCat("whole numbers in [0, C = ", plan.c, ")"),
                    absl::StrCat(label, " for label ", position, " of sample ", sample));
}

template <typename T>
absl::Status ReadLabelsOf(const KernelArgs& args, const CtcPlan& plan, int targets) {
  const TensorDesc& desc = args.call.input(targets);
  const T* first =
      reinterpret_cast<const T*>(args.inputs[static_cast<size_t>(targets)]) + desc.storage_offset;
  const bool padded = desc.rank() == 2;
  const int64_t step = desc.strides.back();
  auto* labels = ScratchAt<int64_t>(args.control, plan.labels);
  auto* starts = ScratchAt<int64_t>(args.control, plan.starts);
  Pace pace(args.workers);
  int64_t start = 0;
  for (int64_t b = 0; b < plan.n; ++b) {
    const T* from = first + (padded ? b * desc.strides[0] : start * step);
    const int64_t length = TargetLengths(args.call)[static_cast<size_t>(b)];
    starts[b] = start;
    for (int64_t i = 0; i < length; ++i) {
      const auto label = AsNumber(ReadOnce(from + i * step));
      if (!IsLabel(label, plan.c)) return BadLabel(plan, absl::StrCat(label), b, i);
      labels[start + i] = static_cast<int64_t>(label);
      if (!pace.Goes(kLabelCost)) return absl::OkStatus();
    }
    start += length;
  }
  return absl::OkStatus();
}

}  // namespace

CtcPlan PlanCtcLoss(const OpCall& call) {
  ScratchPlan scratch;
  ScratchPlan control;
  CtcPlan plan = PlanSamples(call, 0, kForwardRows, scratch, control);
  if (plan.n == 0) return plan;
  plan.bytes = scratch.bytes();
  plan.control_bytes = control.bytes();
  return plan;
}

CtcPlan PlanCtcLossBackward(const OpCall& call) {
  ScratchPlan scratch;
  ScratchPlan control;
  CtcPlan plan = PlanSamples(call, 1, kBackwardRows, scratch, control);
  if (plan.n == 0) return plan;
  plan.losses = control.Take(plan.n, sizeof(double));
  plan.control_bytes = control.bytes();
  const size_t element_bytes = DTypeSize(call.input(1).dtype);
  const int64_t steps_elements = SaturatingProduct({plan.t, plan.c});
  plan.split = plan.n < kFewSamples && steps_elements >= 2 * kStepElements;
  plan.step_chunks =
      std::min({plan.t, std::max<int64_t>(1, steps_elements / kStepElements), kMaxChunks / plan.n});
  const int64_t class_rows = plan.split ? plan.n * plan.step_chunks : plan.chunks;
  // Rounded up to whole vectors.
  plan.classes = scratch.Take(
      SaturatingProduct({class_rows, (plan.c + kRowMargin - 1) / kRowMargin * kRowMargin}),
      element_bytes);
  plan.posterior_row = plan.row - kRowMargin;
  if (plan.split) {
    plan.posteriors =
        scratch.Take(SaturatingProduct({plan.n * plan.t, plan.posterior_row}), element_bytes);
  }
  plan.bytes = scratch.bytes();
  return plan;
}

absl::Status ReadLabels(const KernelArgs& args, const CtcPlan& plan, int targets) {
  switch (args.call.input(targets).dtype) {
    case DType::kInt64:
      return ReadLabelsOf<int64_t>(args, plan, targets);
    case DType::kInt32:
      return ReadLabelsOf<int32_t>(args, plan, targets);
    case DType::kBool:
      return ReadLabelsOf<uint8_t>(args, plan, targets);
    case DType::kFloat16:
      return ReadLabelsOf<Float16>(args, plan, targets);
    default:
      return ReadLabelsOf<float>(args, plan, targets);
  }
}

}  // namespace opserve::cpu
