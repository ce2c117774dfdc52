// GroupNorm and GroupNormBackward: schema and inference.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/ops/norm_checks.h"

namespace opserve::group_norm {
namespace {

// Attributes, the same in both operators.
constexpr int kN = 0;
constexpr int kC = 1;
constexpr int kHxW = 2;
constexpr int kGroup = 3;
constexpr int kEps = 4;
constexpr int kOutputMask = 4;

constexpr AttributeParam kNParam = {.name = "N",
                                    .summary = "extent of the batch",
                                    .kind = AttributeKind::kInt,
                                    .range = kNotNegative};
constexpr AttributeParam kCParam = {.name = "C",
                                    .summary = "number of channels",
                                    .kind = AttributeKind::kInt,
                                    .range = kNotNegative};
constexpr AttributeParam kHxWParam = {.name = "HxW",
                                      .summary = "elements of a channel",
                                      .kind = AttributeKind::kInt,
                                      .range = kNotNegative};
constexpr AttributeParam kGroupParam = {.name = "group",
                                        .summary = "number of groups; divides C",
                                        .kind = AttributeKind::kInt,
                                        .range = kPositive};

constexpr std::string_view kDataShape = "any of N*C*HxW elements";
constexpr std::string_view kStatisticShape = "any of N*group elements";
constexpr std::string_view kParameterShape = "any of C elements";

constexpr TensorParam kGamma = {"gamma", "scale of each channel; 1 when not given", kParameterShape,
                                kFloatDTypes, Presence::kOptional};
constexpr TensorParam kForwardInputs[] = {{"self", "the input", kDataShape, kFloatDTypes},
                                          kGamma,
                                          {"beta", "offset of each channel; 0 when not given",
                                           kParameterShape, kFloatDTypes, Presence::kOptional}};
constexpr AttributeParam kForwardAttributes[] = {kNParam,
                                                 kCParam,
                                                 kHxWParam,
                                                 kGroupParam,
                                                 {.name = "eps",
                                                  .summary = "added to the variance",
                                                  .kind = AttributeKind::kFloat,
                                                  .default_value = AttributeDefault::Float(1e-5),
                                                  .range = kPositive}};
constexpr TensorParam kForwardOutputs[] = {
    {"out", "the normalized input", "self's", kFloatDTypes},
    {"mean", "mean of each group", "(N, group)", kFloatDTypes},
    {"rstd", "1 / sqrt(variance + eps) of each group", "(N, group)", kFloatDTypes}};

constexpr bool kAllOutputs[] = {true, true, true};
constexpr TensorParam kBackwardInputs[] = {
    {"grad_out", "gradient of GroupNorm's out", kDataShape, kFloatDTypes},
    {"input", "the input of GroupNorm", kDataShape, kFloatDTypes},
    {"mean", "mean of each group", kStatisticShape, kFloatDTypes},
    {"rstd", "1 / sqrt(variance + eps) of each group", kStatisticShape, kFloatDTypes},
    kGamma};
constexpr AttributeParam kBackwardAttributes[] = {
    kNParam,
    kCParam,
    kHxWParam,
    kGroupParam,
    {.name = "output_mask",
     .summary = "which of grad_input, grad_gamma and grad_beta to compute",
     .kind = AttributeKind::kBoolList,
     .default_value = AttributeDefault::BoolList(kAllOutputs),
     .list_length = 3}};
constexpr TensorParam kBackwardOutputs[] = {
    {"grad_input", "gradient of input", "input's", kFloatDTypes, Presence::kOptional},
    {"grad_gamma", "gradient of gamma", "gamma's, or (C)", kFloatDTypes, Presence::kOptional},
    {"grad_beta", "gradient of beta", "gamma's, or (C)", kFloatDTypes, Presence::kOptional}};

constexpr GradientInput kGradientInputs[] = {
    {"grad_out", GradientInput::Source::kOutputGradient, "out"},
    {"input", GradientInput::Source::kInput, "self"},
    {"mean", GradientInput::Source::kOutput, "mean"},
    {"rstd", GradientInput::Source::kOutput, "rstd"},
    {"gamma", GradientInput::Source::kInput, "gamma"}};
constexpr GradientOutput kGradientOutputs[] = {
    {"grad_input", "self"}, {"grad_gamma", "gamma"}, {"grad_beta", "beta"}};

constexpr ProfileSupport kSupport = {kFloatDTypes, kFloatDTypes, kFloatDTypes,
                                     DTypeSet{DType::kFloat16, DType::kFloat32}, DTypeSet{}};

// Channels a group on Atlas A2 and A3.
constexpr int64_t kMaxAtlasChannels = 8000;

int64_t IntAttribute(const OpCall& call, int attribute) {
  return call.attribute<int64_t>(attribute);
}

// One supported dtype for the inputs.
absl::Status CheckInputDTypes(const OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckInputsSupported(call));
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.inputs[i].has_value()) continue;
    OPSERVE_RETURN_IF_ERROR(
        CheckDTypeLike(call, call.op->inputs[i].name, call.inputs[i]->dtype, 0));
  }
  return absl::OkStatus();
}

// That dtype for each output that `wanted` names.
absl::Status CheckOutputDTypes(const OpCall& call, const std::vector<bool>& wanted) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i]) continue;
    const DType dtype = OutputDType(call, static_cast<int>(i), call.input(0).dtype);
    OPSERVE_RETURN_IF_ERROR(CheckDTypeLike(call, call.op->outputs[i].name, dtype, 0));
  }
  return absl::OkStatus();
}

absl::Status CheckExtents(const OpCall& call) {
  for (const int attribute : {kN, kC, kHxW, kGroup})
    OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, attribute));
  const int64_t c = IntAttribute(call, kC);
  const int64_t group = IntAttribute(call, kGroup);
  if (c % group != 0)
    return OutOfRange("group", absl::StrCat("a divisor of C = ", c), absl::StrCat(group));
  const bool atlas = call.profile == Profile::kAtlasA2 || call.profile == Profile::kAtlasA3;
  if (atlas && c / group > kMaxAtlasChannels) {
    return OutOfRange("C", absl::StrCat("C / group <= ", kMaxAtlasChannels, " on this product"),
                      absl::StrCat(c / group));
  }
  return absl::OkStatus();
}

// The input has N·C·HxW (or N·group, or C) elements, whatever its shape.
absl::Status CheckElements(const OpCall& call, int input, std::initializer_list<int64_t> extents) {
  std::string words;
  for (const int64_t extent : extents) absl::StrAppend(&words, words.empty() ? "" : "*", extent);
  return CheckNumElements(call, input, {extents.begin(), extents.size()}, words);
}

absl::Status InferForward(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckInputDTypes(call));
  OPSERVE_RETURN_IF_ERROR(CheckOutputDTypes(call, {true, true, true}));
  OPSERVE_RETURN_IF_ERROR(CheckExtents(call));
  OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, kEps));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  const int64_t n = IntAttribute(call, kN);
  const int64_t c = IntAttribute(call, kC);
  OPSERVE_RETURN_IF_ERROR(CheckElements(call, 0, {n, c, IntAttribute(call, kHxW)}));
  OPSERVE_RETURN_IF_ERROR(CheckElements(call, 1, {c}));
  OPSERVE_RETURN_IF_ERROR(CheckElements(call, 2, {c}));
  const DType dtype = call.input(0).dtype;
  const int64_t statistics[] = {n, IntAttribute(call, kGroup)};
  OPSERVE_RETURN_IF_ERROR(SettleOutput(call, 0, dtype, call.input(0).shape));
  OPSERVE_RETURN_IF_ERROR(SettleOutput(call, 1, dtype, statistics));
  return SettleOutput(call, 2, dtype, statistics);
}

// gamma's shape; (C) where there is no gamma, or where the caller has it so.
absl::Status SettleParameterGradient(OpCall& call, int output) {
  const int64_t channels[] = {IntAttribute(call, kC)};
  const OutputSlot& slot = call.output(output);
  const Dims* asked = slot.origin == OutputSlot::Origin::kGiven ? &slot.desc.shape
                      : slot.requested_shape.has_value()        ? &*slot.requested_shape
                                                                : nullptr;
  const bool flat = !call.has_input(4) || (asked != nullptr && SameShape(*asked, channels));
  const DType dtype = call.input(0).dtype;
  if (flat) return SettleOutput(call, output, dtype, channels);
  return SettleOutput(call, output, dtype, call.input(4).shape);
}

absl::Status InferBackward(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckInputDTypes(call));
  // Before the dtypes of the outputs: only those that it asks for count.
  OPSERVE_RETURN_IF_ERROR(CheckOutputMask(call, kOutputMask));
  const auto& mask = call.attribute<std::vector<bool>>(kOutputMask);
  OPSERVE_RETURN_IF_ERROR(CheckOutputDTypes(call, mask));
  OPSERVE_RETURN_IF_ERROR(CheckExtents(call));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  const int64_t n = IntAttribute(call, kN);
  const int64_t c = IntAttribute(call, kC);
  const int64_t group = IntAttribute(call, kGroup);
  for (const int data : {0, 1})
    OPSERVE_RETURN_IF_ERROR(CheckElements(call, data, {n, c, IntAttribute(call, kHxW)}));
  for (const int statistic : {2, 3})
    OPSERVE_RETURN_IF_ERROR(CheckElements(call, statistic, {n, group}));
  OPSERVE_RETURN_IF_ERROR(CheckElements(call, 4, {c}));
  for (int i = 0; i < 3; ++i) {
    if (!mask[static_cast<size_t>(i)]) {
      MaskOutput(call, i, call.input(0).dtype);
    } else if (i == 0) {
      OPSERVE_RETURN_IF_ERROR(SettleOutput(call, i, call.input(0).dtype, call.input(1).shape));
    } else {
      OPSERVE_RETURN_IF_ERROR(SettleParameterGradient(call, i));
    }
  }
  return absl::OkStatus();
}

}  // namespace

extern constinit const Operator kGroupNorm = {
    .name = "GroupNorm",
    .summary =
        "Normalizes each group of channels to mean 0 and variance 1, then scales and offsets each "
        "channel.",
    .description =
        "out = (self - mean) * rstd * gamma + beta, rstd = 1 / sqrt(variance + eps)\n"
        "mean and the biased variance are those of the C/group channels of a group, HxW elements "
        "each. self is read as (N, C, "
        "HxW) whatever its shape. A group without elements has mean 0 and rstd NaN.\n"
        "The profiles atlas-a2 and atlas-a3 take at most 8000 channels a group.",
    .inputs = kForwardInputs,
    .attributes = kForwardAttributes,
    .outputs = kForwardOutputs,
    .support = kSupport,
    .gradient = {.op = "GroupNormBackward",
                 .inputs = kGradientInputs,
                 .outputs = kGradientOutputs,
                 .output_mask = "output_mask"},
    .infer = InferForward,
};

extern constinit const Operator kGroupNormBackward = {
    .name = "GroupNormBackward",
    .summary = "Gradients of GroupNorm with respect to its input, gamma and beta.",
    .description =
        "For each n and c: ds = sum(grad_out * input), db = sum(grad_out), over HxW.\n"
        "For each n and group, with s = group / (C * HxW): DS = sum(gamma * ds), DB = sum(gamma * "
        "db), c1 = rstd * gamma, "
        "c2 = (DB * mean - DS) * rstd^3 * s, c3 = -c2 * mean - DB * rstd * s.\n"
        "grad_input = c1 * grad_out + c2 * input + c3; grad_gamma = sum over n of (ds - db * mean) "
        "* rstd; grad_beta = sum "
        "over n of db.\n"
        "mean and rstd are taken as given. An output that output_mask leaves out is empty and not "
        "computed. With N = 0 or "
        "HxW = 0 the gradients of gamma and beta are zeros.\n"
        "The profiles atlas-a2 and atlas-a3 take at most 8000 channels a group.",
    .inputs = kBackwardInputs,
    .attributes = kBackwardAttributes,
    .outputs = kBackwardOutputs,
    .support = kSupport,
    .infer = InferBackward,
};

}  // namespace opserve::group_norm
