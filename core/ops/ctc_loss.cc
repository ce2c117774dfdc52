// CtcLoss and CtcLossBackward: schema and inference.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/op/infer_checks.h"
#include "core/op/op_call.h"

namespace opserve::ctc_loss {
namespace {

constexpr DTypeSet kDTypes{DType::kFloat32, DType::kFloat64};
constexpr DTypeSet kTargetDTypes{DType::kInt64, DType::kInt32, DType::kBool, DType::kFloat32,
                                 DType::kFloat16};
constexpr ProfileSupport kSupport = {kDTypes, kDTypes, kDTypes, kDTypes, DTypeSet{}};

// Attributes, the same in both operators.
constexpr int kInputLengths = 0;
constexpr int kTargetLengths = 1;
constexpr int kBlank = 2;
constexpr AttributeParam kAttributes[] = {
    {.name = "input_lengths",
     .summary = "time steps of each sample, at most T",
     .kind = AttributeKind::kIntList,
     .range = kNotNegative},
    {.name = "target_lengths",
     .summary = "labels of each sample",
     .kind = AttributeKind::kIntList,
     .range = kNotNegative},
    {.name = "blank",
     .summary = "the class that stands for no label, below C",
     .kind = AttributeKind::kInt,
     .default_value = AttributeDefault::Int(0),
     .range = kNotNegative},
    {.name = "zero_infinity",
     .summary = "whether samples of infinite loss have gradient 0, not NaN",
     .kind = AttributeKind::kBool,
     .default_value = AttributeDefault::Bool(false)}};

constexpr TensorParam kLogProbs = {"log_probs", "logarithms of the probabilities of the classes",
                                   "(T, N, C), T > 0", kDTypes};
constexpr TensorParam kTargets = {"targets", "labels in [0, C), whole numbers",
                                  "(N, >= the longest target) padded, or (sum of target_lengths)",
                                  kTargetDTypes};
constexpr TensorParam kLikelihood = {"neg_log_likelihood", "the loss of each sample", "(N)",
                                     kDTypes};
constexpr TensorParam kLogAlpha = {"log_alpha", "forward variables in log space",
                                   "(N, T, >= 2 * the longest target + 1)", kDTypes};

constexpr TensorParam kForwardInputs[] = {kLogProbs, kTargets};
constexpr TensorParam kForwardOutputs[] = {kLikelihood, kLogAlpha};
constexpr TensorParam kBackwardInputs[] = {
    {"grad_out", "gradient of each sample's loss", "(N)", kDTypes},
    kLogProbs,
    kTargets,
    kLikelihood,
    kLogAlpha};
constexpr TensorParam kBackwardOutputs[] = {
    {"grad", "gradient of the logits from which log_softmax makes log_probs", "(T, N, C)",
     kDTypes}};

constexpr std::string_view kBackwardOrder[] = {
    "grad_out",           "log_probs", "targets", "input_lengths", "target_lengths",
    "neg_log_likelihood", "log_alpha", "blank",   "zero_infinity", "grad"};

// grad is that of the logits before log_softmax. PyTorch, too, takes it for that of log_probs: the
// gradient of log_softmax lets it pass as it is, for it sums to 0 over the classes.
constexpr GradientInput kGradientInputs[] = {
    {"grad_out", GradientInput::Source::kOutputGradient, "neg_log_likelihood"},
    {"log_probs", GradientInput::Source::kInput, "log_probs"},
    {"targets", GradientInput::Source::kInput, "targets"},
    {"neg_log_likelihood", GradientInput::Source::kOutput, "neg_log_likelihood"},
    {"log_alpha", GradientInput::Source::kOutput, "log_alpha"}};
constexpr GradientOutput kGradientOutputs[] = {{"grad", "log_probs"}};

// Where the two operators have the inputs that both have.
constexpr int kForwardLogProbs = 0;
constexpr int kBackwardLogProbs = 1;

struct Extents {
  int64_t t;
  int64_t n;
  int64_t c;
};

std::string_view InputName(const OpCall& call, int input) {
  return call.op->inputs[static_cast<size_t>(input)].name;
}

absl::Status CheckRank(const OpCall& call, int input, int rank) {
  if (call.input(input).rank() == rank) return absl::OkStatus();
  return ShapeMismatch(InputName(call, input), absl::StrCat("rank ", rank),
                       absl::StrCat("rank ", call.input(input).rank()));
}

absl::Status CheckShape(const OpCall& call, int input, std::span<const int64_t> shape) {
  const Dims& got = call.input(input).shape;
  if (SameShape(got, shape)) return absl::OkStatus();
  return ShapeMismatch(InputName(call, input), absl::StrCat("shape ", ShapeToString(shape)),
                       ShapeToString(got));
}

absl::Status CheckTargetsRank(const OpCall& call, int targets) {
  const int rank = call.input(targets).rank();
  if (rank == 1 || rank == 2) return absl::OkStatus();
  return ShapeMismatch("targets", "rank 1 or 2", absl::StrCat("rank ", rank));
}

// T > 0, 0 <= blank < C, and N > 0 where the product wants it.
absl::StatusOr<Extents> CheckExtents(const OpCall& call, int log_probs) {
  const Dims& shape = call.input(log_probs).shape;
  const Extents extents = {shape[0], shape[1], shape[2]};
  if (extents.t == 0) return ShapeMismatch("log_probs", "T > 0", ShapeToString(shape));
  if (extents.n == 0 && call.profile != Profile::kHost) {
    return ShapeMismatch("log_probs", "N > 0 on this product", ShapeToString(shape));
  }
  return extents;
}

absl::Status CheckBlank(const OpCall& call, const Extents& extents) {
  const int64_t blank = call.attribute<int64_t>(kBlank);
  if (blank >= 0 && blank < extents.c) return absl::OkStatus();
  return OutOfRange("blank", absl::StrCat("0 <= blank < C = ", extents.c), absl::StrCat(blank));
}

// As many lengths as samples.
absl::Status CheckNumberOfLengths(const OpCall& call, int attribute, const Extents& extents) {
  const auto& lengths = call.attribute<std::vector<int64_t>>(attribute);
  if (static_cast<int64_t>(lengths.size()) == extents.n) return absl::OkStatus();
  return ShapeMismatch(kAttributes[attribute].name, absl::StrCat("N = ", extents.n, " lengths"),
                       absl::StrCat(lengths.size()));
}

absl::Status CheckInputLengths(const OpCall& call, const Extents& extents) {
  OPSERVE_RETURN_IF_ERROR(CheckNumberOfLengths(call, kInputLengths, extents));
  const auto& lengths = call.attribute<std::vector<int64_t>>(kInputLengths);
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] >= 0 && lengths[i] <= extents.t) continue;
    return OutOfRange("input_lengths", absl::StrCat("0 <= length <= T = ", extents.t),
                      absl::StrCat(lengths[i], " at ", i));
  }
  return absl::OkStatus();
}

absl::Status CheckTargetLengths(const OpCall& call, const Extents& extents) {
  OPSERVE_RETURN_IF_ERROR(CheckNumberOfLengths(call, kTargetLengths, extents));
  return CheckAttribute(call, kTargetLengths);
}

// Padded targets have a row for each sample.
absl::Status CheckTargetsRows(const OpCall& call, int targets, const Extents& extents) {
  const Dims& shape = call.input(targets).shape;
  if (shape.size() != 2 || shape[0] == extents.n) return absl::OkStatus();
  return ShapeMismatch("targets", absl::StrCat("N = ", extents.n, " rows, or rank 1"),
                       ShapeToString(shape));
}

// The targets hold the labels that their lengths promise.
absl::Status CheckTargets(const OpCall& call, int targets, const Extents& extents,
                          int64_t longest) {
  const Dims& shape = call.input(targets).shape;
  if (shape.size() == 2) {
    if (shape[1] >= longest) return absl::OkStatus();
    return ShapeMismatch("targets", absl::StrCat("shape [", extents.n, ", >= ", longest, "]"),
                         ShapeToString(shape));
  }
  int64_t sum = 0;
  bool fits = true;
  for (const int64_t length : call.attribute<std::vector<int64_t>>(kTargetLengths)) {
    fits = fits && !__builtin_add_overflow(sum, length, &sum);
  }
  if (fits && sum == shape[0]) return absl::OkStatus();
  return ShapeMismatch("targets",
                       fits ? absl::StrCat("shape [", sum, "], the sum of target_lengths")
                            : "a sum of target_lengths below 2^63",
                       ShapeToString(shape));
}

// 2 · longest + 1; nullopt when it exceeds int64.
std::optional<int64_t> LatticeWidth(int64_t longest) {
  int64_t width = 0;
  if (__builtin_mul_overflow(longest, int64_t{2}, &width)) return std::nullopt;
  if (__builtin_add_overflow(width, int64_t{1}, &width)) return std::nullopt;
  return width;
}

int64_t Longest(const OpCall& call) {
  int64_t longest = 0;
  for (const int64_t length : call.attribute<std::vector<int64_t>>(kTargetLengths))
    longest = std::max(longest, length);
  return longest;
}

// blank, lengths, targets.
absl::Status CheckValues(const OpCall& call, int targets, const Extents& extents) {
  OPSERVE_RETURN_IF_ERROR(CheckBlank(call, extents));
  OPSERVE_RETURN_IF_ERROR(CheckInputLengths(call, extents));
  OPSERVE_RETURN_IF_ERROR(CheckTargetLengths(call, extents));
  return CheckTargets(call, targets, extents, Longest(call));
}

// One supported dtype for all but the targets.
absl::Status CheckDTypes(const OpCall& call, int log_probs) {
  const DType dtype = call.input(log_probs).dtype;
  OPSERVE_RETURN_IF_ERROR(CheckInputSupported(call, log_probs));
  const auto check = [&](std::string_view name, DType got) {
    if (got == dtype) return absl::OkStatus();
    return UnsupportedDType(name,
                            absl::StrCat("the dtype of log_probs, ", std::string(DTypeName(dtype))),
                            DTypeName(got));
  };
  for (int i = 0; i < static_cast<int>(call.inputs.size()); ++i) {
    if (i == log_probs + 1) continue;  // the targets
    OPSERVE_RETURN_IF_ERROR(check(InputName(call, i), call.input(i).dtype));
  }
  const DType labels = call.input(log_probs + 1).dtype;
  if (!kTargetDTypes.Contains(labels)) {
    return UnsupportedDType("targets", kTargetDTypes.ToString(), DTypeName(labels));
  }
  for (int i = 0; i < static_cast<int>(call.outputs.size()); ++i) {
    OPSERVE_RETURN_IF_ERROR(
        check(call.op->outputs[static_cast<size_t>(i)].name, OutputDType(call, i, dtype)));
  }
  return absl::OkStatus();
}

// (N, T, W) with W as small as it may be, or as wide as the caller has it.
absl::Status SettleLogAlpha(OpCall& call, const Extents& extents, DType dtype) {
  const std::optional<int64_t> width = LatticeWidth(Longest(call));
  if (!width.has_value())
    return OutOfRange("target_lengths", "lengths below 2^62", absl::StrCat(Longest(call)));
  Dims shape = {extents.n, extents.t, *width};
  const OutputSlot& slot = call.output(1);
  const Dims* asked = slot.origin == OutputSlot::Origin::kGiven ? &slot.desc.shape
                      : slot.requested_shape.has_value()        ? &*slot.requested_shape
                                                                : nullptr;
  if (asked != nullptr && asked->size() == 3) shape[2] = std::max(shape[2], (*asked)[2]);
  return SettleOutput(call, 1, dtype, shape);
}

absl::Status InferForward(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckRank(call, kForwardLogProbs, 3));
  OPSERVE_RETURN_IF_ERROR(CheckTargetsRank(call, kForwardLogProbs + 1));
  OPSERVE_ASSIGN_OR_RETURN(const Extents extents, CheckExtents(call, kForwardLogProbs));
  OPSERVE_RETURN_IF_ERROR(CheckTargetsRows(call, kForwardLogProbs + 1, extents));
  OPSERVE_RETURN_IF_ERROR(CheckValues(call, kForwardLogProbs + 1, extents));
  const DType dtype = call.input(kForwardLogProbs).dtype;
  OPSERVE_RETURN_IF_ERROR(SettleOutput(call, 0, dtype, std::span(&extents.n, 1)));
  OPSERVE_RETURN_IF_ERROR(SettleLogAlpha(call, extents, dtype));
  return CheckDTypes(call, kForwardLogProbs);
}

absl::Status CheckLogAlphaRows(const OpCall& call, const Extents& extents) {
  const Dims& shape = call.input(4).shape;
  if (shape[0] == extents.n && shape[1] == extents.t) return absl::OkStatus();
  return ShapeMismatch("log_alpha", absl::StrCat("shape [", extents.n, ", ", extents.t, ", W]"),
                       ShapeToString(shape));
}

absl::Status CheckLogAlphaWidth(const OpCall& call, const Extents& extents) {
  const Dims& shape = call.input(4).shape;
  const std::optional<int64_t> width = LatticeWidth(Longest(call));
  if (width.has_value() && shape[2] >= *width) return absl::OkStatus();
  const std::string least = width.has_value() ? absl::StrCat(*width) : "2 * the longest target + 1";
  return ShapeMismatch("log_alpha",
                       absl::StrCat("shape [", extents.n, ", ", extents.t, ", >= ", least, "]"),
                       ShapeToString(shape));
}

absl::Status InferBackward(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckRank(call, 0, 1));
  OPSERVE_RETURN_IF_ERROR(CheckRank(call, kBackwardLogProbs, 3));
  OPSERVE_RETURN_IF_ERROR(CheckTargetsRank(call, kBackwardLogProbs + 1));
  OPSERVE_RETURN_IF_ERROR(CheckRank(call, 3, 1));
  OPSERVE_RETURN_IF_ERROR(CheckRank(call, 4, 3));
  OPSERVE_ASSIGN_OR_RETURN(const Extents extents, CheckExtents(call, kBackwardLogProbs));
  OPSERVE_RETURN_IF_ERROR(CheckShape(call, 0, std::span(&extents.n, 1)));
  OPSERVE_RETURN_IF_ERROR(CheckTargetsRows(call, kBackwardLogProbs + 1, extents));
  OPSERVE_RETURN_IF_ERROR(CheckShape(call, 3, std::span(&extents.n, 1)));
  OPSERVE_RETURN_IF_ERROR(CheckLogAlphaRows(call, extents));
  OPSERVE_RETURN_IF_ERROR(CheckValues(call, kBackwardLogProbs + 1, extents));
  OPSERVE_RETURN_IF_ERROR(CheckLogAlphaWidth(call, extents));
  const TensorDesc& log_probs = call.input(kBackwardLogProbs);
  OPSERVE_RETURN_IF_ERROR(SettleOutput(call, 0, log_probs.dtype, log_probs.shape));
  return CheckDTypes(call, kBackwardLogProbs);
}

// A lattice has a cell for each element of log_alpha; the gradient takes an exponential of each of
// log_probs besides.
constexpr int64_t kOperationsOfCell = 4;
constexpr int64_t kOperationsOfClass = 4;

int64_t Operations(int64_t cells, int64_t classes) {
  int64_t sum = 0;
  int64_t rest = 0;
  const bool overflow = __builtin_mul_overflow(cells, kOperationsOfCell, &sum) ||
                        __builtin_mul_overflow(classes, kOperationsOfClass, &rest) ||
                        __builtin_add_overflow(sum, rest, &sum);
  return overflow ? std::numeric_limits<int64_t>::max() : sum;
}

int64_t ForwardOperations(const OpCall& call) {
  return Operations(call.output(1).desc.num_elements(), 0);
}

int64_t BackwardOperations(const OpCall& call) {
  return Operations(2 * call.input(4).num_elements(), call.input(kBackwardLogProbs).num_elements());
}

}  // namespace

extern constinit const Operator kCtcLoss = {
    .name = "CtcLoss",
    .summary =
        "Connectionist temporal classification loss: how unlikely the labels are, over all "
        "alignments.",
    .description =
        "l' is a sample's labels with blanks between and around. log_alpha[n][t][s] is the "
        "logarithm of the probability of all "
        "alignments of l'_0 to l'_s with the first t + 1 steps; -inf for s beyond l' and t beyond "
        "the sample's steps.\n"
        "neg_log_likelihood = -logsumexp(log_alpha of the last two s at the last step); without "
        "steps 0 when there are no "
        "labels, else +inf. It stays +inf under zero_infinity, where PyTorch's module would put "
        "0.\n"
        "Every profile but host wants N > 0.",
    .inputs = kForwardInputs,
    .attributes = kAttributes,
    .outputs = kForwardOutputs,
    .support = kSupport,
    .gradient = {.op = "CtcLossBackward", .inputs = kGradientInputs, .outputs = kGradientOutputs},
    .infer = InferForward,
    .operations = ForwardOperations,
};

extern constinit const Operator kCtcLossBackward = {
    .name = "CtcLossBackward",
    .summary = "Gradient of CtcLoss with respect to the logits before log_softmax.",
    .description =
        "beta[t][s] is the backward recursion in log space over the labels with blanks between and "
        "around; res[t][c] is the "
        "logsumexp of log_alpha + beta over the s whose label is c.\n"
        "grad = (exp(log_probs) - exp(res + neg_log_likelihood - log_probs)) * grad_out for the "
        "steps of a sample, 0 beyond. "
        "log_alpha and neg_log_likelihood are taken as given.\n"
        "A sample of infinite loss has gradient 0 with zero_infinity, else NaN. log_probs = -inf "
        "gives NaN at its class. A label "
        "equal to blank counts as any other, where PyTorch forgets a term at the last step.\n"
        "Every profile but host wants N > 0.",
    .inputs = kBackwardInputs,
    .attributes = kAttributes,
    .outputs = kBackwardOutputs,
    .support = kSupport,
    .c_order = kBackwardOrder,
    .infer = InferBackward,
    .operations = BackwardOperations,
};

}  // namespace opserve::ctc_loss
