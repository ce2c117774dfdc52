// Convolution and ConvolutionBackward: schema and inference.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/op/convolution_shape.h"
#include "core/ops/product_schema.h"

namespace opserve::convolution {
namespace {

// Attributes of the forward; those of the backward are the same after bias_sizes, with output_mask
// before the last.
constexpr int kTransposed = 3;
constexpr int kGroups = 5;
constexpr int kBiasSizes = 0;
constexpr int kOutputMask = 7;

constexpr AttributeRange kSteps = {.minimum = 1};
constexpr AttributeParam kStrideParam = {.name = "stride",
                                         .summary = "distance of the kernel's places",
                                         .kind = AttributeKind::kIntList,
                                         .range = kSteps};
constexpr AttributeParam kPaddingParam = {.name = "padding",
                                          .summary = "zeros at either end of the input",
                                          .kind = AttributeKind::kIntList,
                                          .range = kNotNegative};
constexpr AttributeParam kDilationParam = {.name = "dilation",
                                           .summary = "distance of the kernel's elements",
                                           .kind = AttributeKind::kIntList,
                                           .range = kSteps};
constexpr AttributeParam kTransposedParam = {.name = "transposed",
                                             .summary = "whether it is the transposed convolution",
                                             .kind = AttributeKind::kBool,
                                             .default_value = AttributeDefault::Bool(false)};
constexpr AttributeParam kOutputPaddingParam = {
    .name = "output_padding",
    .summary = "added to the extents of a transposed convolution's result",
    .kind = AttributeKind::kIntList,
    .range = kNotNegative};
constexpr AttributeParam kGroupsParam = {.name = "groups",
                                         .summary = "into how many the channels are divided",
                                         .kind = AttributeKind::kInt,
                                         .default_value = AttributeDefault::Int(1),
                                         .range = kSteps};

constexpr std::string_view kDataShape = "(N, C, ...), of 1 to 3 dimensions after the channels";
constexpr std::string_view kWeightShape = "(Cout, C/groups, ...); transposed (C, Cout/groups, ...)";
constexpr std::string_view kResultShape = "(N, Cout, ...)";

constexpr TensorParam kWeight = {"weight", "the kernels", kWeightShape, kFloatDTypes};
constexpr TensorParam kForwardInputs[] = {
    {"input", "the input", kDataShape, kFloatDTypes},
    kWeight,
    {"bias", "added to each channel of the result", "(Cout)", kFloatDTypes, Presence::kOptional}};
constexpr AttributeParam kForwardAttributes[] = {
    kStrideParam,        kPaddingParam, kDilationParam, kTransposedParam,
    kOutputPaddingParam, kGroupsParam,  kCubeMathType};
constexpr TensorParam kForwardOutputs[] = {{"out", "the result", kResultShape, kFloatDTypes}};
constexpr std::string_view kForwardOrder[] = {
    "input",      "weight",         "bias",   "stride", "padding",       "dilation",
    "transposed", "output_padding", "groups", "out",    "cube_math_type"};

constexpr bool kAllGradients[] = {true, true, true};
constexpr TensorParam kBackwardInputs[] = {
    {"grad_output", "gradient of Convolution's out", kResultShape, kFloatDTypes},
    {"input", "the input of Convolution", kDataShape, kFloatDTypes},
    kWeight};
constexpr AttributeParam kBackwardAttributes[] = {
    {.name = "bias_sizes",
     .summary = "shape of the bias, (Cout); an empty list stands for it, too",
     .kind = AttributeKind::kIntList,
     .default_value = AttributeDefault::BoolList({}),
     .range = kNotNegative,
     .c_optional = true},
    kStrideParam,
    kPaddingParam,
    kDilationParam,
    kTransposedParam,
    kOutputPaddingParam,
    kGroupsParam,
    {.name = "output_mask",
     .summary = "which of grad_input, grad_weight and grad_bias to compute",
     .kind = AttributeKind::kBoolList,
     .default_value = AttributeDefault::BoolList(kAllGradients),
     .list_length = 3},
    kCubeMathType};
constexpr TensorParam kBackwardOutputs[] = {
    {"grad_input", "gradient of input", "input's", kFloatDTypes, Presence::kOptional},
    {"grad_weight", "gradient of weight", "weight's", kFloatDTypes, Presence::kOptional},
    {"grad_bias", "gradient of the bias", "(Cout)", kFloatDTypes, Presence::kOptional}};
constexpr std::string_view kBackwardOrder[] = {
    "grad_output", "input",          "weight",     "bias_sizes",     "stride",
    "padding",     "dilation",       "transposed", "output_padding", "groups",
    "output_mask", "cube_math_type", "grad_input", "grad_weight",    "grad_bias"};

constexpr GradientInput kTakes[] = {{"grad_output", GradientInput::Source::kOutputGradient, "out"},
                                    {"input", GradientInput::Source::kInput, "input"},
                                    {"weight", GradientInput::Source::kInput, "weight"}};
constexpr GradientOutput kGives[] = {
    {"grad_input", "input"}, {"grad_weight", "weight"}, {"grad_bias", "bias"}};

const std::vector<int64_t>& Ints(const OpCall& call, int attribute) {
  return call.attribute<std::vector<int64_t>>(attribute);
}

std::string_view AttributeName(const OpCall& call, int attribute) {
  return call.op->attributes[static_cast<size_t>(attribute)].name;
}

absl::Status CheckConvolutionAttributes(const OpCall& call) {
  for (size_t i = 0; i < call.attributes.size(); ++i)
    OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, static_cast<int>(i)));
  return absl::OkStatus();
}

// Inputs that are given have 3 to 5 dimensions, of which weight's and those of `others` are as many
// as input's; lists have one entry, or one for each of the dimensions after the channels.
absl::Status CheckConvolutionRanks(const OpCall& call, int input, std::initializer_list<int> others,
                                   int first_attribute) {
  const int rank = call.input(input).rank();
  if (rank < 3 || rank > 5) {
    return ShapeMismatch("input", "rank 3, 4 or 5", absl::StrCat("rank ", rank));
  }
  for (const int other : others) {
    const TensorDesc& desc = call.input(other);
    if (desc.rank() == rank) continue;
    return ShapeMismatch(call.op->inputs[static_cast<size_t>(other)].name,
                         absl::StrCat("rank ", rank, " as input's"),
                         absl::StrCat("rank ", desc.rank()));
  }
  for (const int list : {0, 1, 2, 4}) {
    const auto entries = static_cast<int>(Ints(call, first_attribute + list).size());
    if (entries == 1 || entries == rank - 2) continue;
    return InvalidParameter(AttributeName(call, first_attribute + list),
                            absl::StrCat("1 or ", rank - 2, " ints"),
                            absl::StrCat(entries, " ints"));
  }
  return absl::OkStatus();
}

// Of channels and groups.
absl::Status CheckChannels(const OpCall& call, const Dims& input, const Dims& weight,
                           int first_attribute) {
  const int64_t groups = call.attribute<int64_t>(first_attribute + kGroups);
  const bool transposed = call.attribute<bool>(first_attribute + kTransposed);
  const int64_t channels = input[1];
  if (channels % groups != 0)
    return OutOfRange("groups", absl::StrCat("a divisor of C = ", channels), absl::StrCat(groups));
  if (weight[0] % groups != 0) {
    return ShapeMismatch("weight", absl::StrCat("a multiple of groups = ", groups, " kernels"),
                         ShapeToString(weight));
  }
  const int64_t got = transposed ? weight[0] : weight[1];
  const int64_t want = transposed ? channels : channels / groups;
  if (got == want) return absl::OkStatus();
  return ShapeMismatch(
      "weight", absl::StrCat(want, " channels, as input has ", channels, " in ", groups, " groups"),
      ShapeToString(weight));
}

// The result's shape.
absl::StatusOr<Dims> ResultShape(const OpCall& call, const Dims& input, const Dims& weight,
                                 int first_attribute) {
  OPSERVE_RETURN_IF_ERROR(CheckChannels(call, input, weight, first_attribute));
  const int64_t groups = call.attribute<int64_t>(first_attribute + kGroups);
  const bool transposed = call.attribute<bool>(first_attribute + kTransposed);
  int64_t channels = weight[0];
  if (transposed && __builtin_mul_overflow(weight[1], groups, &channels)) channels = -1;
  Dims shape = {input[0], channels};
  for (size_t i = 2; i < input.size(); ++i) {
    const ConvolutionSteps steps = StepsOf(call, first_attribute, i - 2);
    const std::optional<int64_t> extent = transposed ? TransposedExtent(input[i], weight[i], steps)
                                                     : ConvolvedExtent(input[i], weight[i], steps);
    if (!extent.has_value()) {
      return ShapeMismatch("input",
                           absl::StrCat("an extent in which a kernel of ", ShapeToString(weight),
                                        " has a place, and a result that can be counted"),
                           ShapeToString(input));
    }
    shape.push_back(*extent);
  }
  if (channels >= 0 && IsCountableProduct(shape)) return shape;
  return ShapeMismatch("weight", "a result of fewer than 2^60 elements", ShapeToString(weight));
}

absl::Status CheckOutputPadding(const OpCall& call, int first_attribute) {
  if (!call.attribute<bool>(first_attribute + kTransposed)) return absl::OkStatus();
  for (size_t i = 0; i + 2 < call.input(first_attribute).shape.size(); ++i) {
    const ConvolutionSteps steps = StepsOf(call, first_attribute, i);
    const int64_t bound = std::max(steps.stride, steps.dilation);
    if (steps.output_padding >= bound) {
      return OutOfRange("output_padding", "less than the stride or the dilation",
                        absl::StrCat(steps.output_padding));
    }
  }
  return absl::OkStatus();
}

absl::Status InferConvolution(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckConvolutionAttributes(call));
  OPSERVE_ASSIGN_OR_RETURN(const DType promoted, CheckElementwise(call));
  OPSERVE_RETURN_IF_ERROR(CheckConvolutionRanks(call, 0, {1}, 0));
  OPSERVE_RETURN_IF_ERROR(CheckOutputPadding(call, 0));
  OPSERVE_ASSIGN_OR_RETURN(const Dims shape,
                           ResultShape(call, call.input(0).shape, call.input(1).shape, 0));
  if (call.has_input(2)) {
    const int64_t channels[] = {shape[1]};
    if (!SameShape(call.input(2).shape, channels)) {
      return ShapeMismatch("bias", absl::StrCat("shape ", ShapeToString(channels)),
                           ShapeToString(call.input(2).shape));
    }
  }
  return SettleOutput(call, 0, promoted, shape);
}

absl::Status CheckWanted(const OpCall& call, const std::vector<bool>& mask) {
  for (size_t i = 0; i < mask.size(); ++i) {
    if (!mask[i] || call.outputs[i].origin != OutputSlot::Origin::kMissing) continue;
    return InvalidParameter(call.op->outputs[i].name, "a tensor, as output_mask asks for it",
                            "none");
  }
  return absl::OkStatus();
}

absl::Status CheckGradientDTypes(const OpCall& call, const std::vector<bool>& mask) {
  OPSERVE_RETURN_IF_ERROR(CheckInputsSupported(call));
  for (size_t i = 0; i < mask.size(); ++i) {
    if (mask[i])
      OPSERVE_RETURN_IF_ERROR(CheckOutputSupported(call, static_cast<int>(i), call.input(0).dtype));
  }
  return absl::OkStatus();
}

// grad_output and bias_sizes are the result's.
absl::Status CheckResult(const OpCall& call, const Dims& result) {
  if (!SameShape(call.input(0).shape, result)) {
    return ShapeMismatch("grad_output", absl::StrCat("shape ", ShapeToString(result)),
                         ShapeToString(call.input(0).shape));
  }
  const std::vector<int64_t>& sizes = Ints(call, kBiasSizes);
  if (sizes.empty() || (sizes.size() == 1 && sizes[0] == result[1])) return absl::OkStatus();
  return InvalidParameter("bias_sizes", absl::StrCat(ShapeToString({&result[1], 1}), " or none"),
                          ShapeToString(sizes));
}

absl::Status InferConvolutionBackward(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckConvolutionAttributes(call));
  const std::vector<bool> mask = call.attribute<std::vector<bool>>(kOutputMask);
  OPSERVE_RETURN_IF_ERROR(CheckWanted(call, mask));
  OPSERVE_RETURN_IF_ERROR(CheckGradientDTypes(call, mask));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  OPSERVE_RETURN_IF_ERROR(CheckConvolutionRanks(call, 1, {2, 0}, 1));
  OPSERVE_RETURN_IF_ERROR(CheckOutputPadding(call, 1));
  OPSERVE_ASSIGN_OR_RETURN(const DType promoted, PromoteInputs(call));
  OPSERVE_ASSIGN_OR_RETURN(const Dims result,
                           ResultShape(call, call.input(1).shape, call.input(2).shape, 1));
  OPSERVE_RETURN_IF_ERROR(CheckResult(call, result));
  const Dims channels = {result[1]};
  const Dims* const shapes[] = {&call.input(1).shape, &call.input(2).shape, &channels};
  for (int i = 0; i < 3; ++i) {
    if (mask[static_cast<size_t>(i)]) {
      OPSERVE_RETURN_IF_ERROR(SettleOutput(call, i, promoted, *shapes[i]));
    } else {
      MaskOutput(call, i, promoted);
    }
  }
  return absl::OkStatus();
}

// Products of one of the three convolutions: each element of the result, or of the input of a
// transposed one, meets a kernel's elements of one group.
int64_t ProductsOf(const Dims& input, const Dims& weight, const Dims& result, bool transposed) {
  const Dims& side = transposed ? input : result;
  const std::span<const int64_t> kernel = std::span<const int64_t>(weight).subspan(1);
  return ProductOperations({NumElements(side).value_or(0), NumElements(kernel).value_or(0)});
}

int64_t ConvolutionOperations(const OpCall& call) {
  return ProductsOf(call.input(0).shape, call.input(1).shape, call.output(0).desc.shape,
                    call.attribute<bool>(kTransposed));
}

int64_t ConvolutionBackwardOperations(const OpCall& call) {
  const int64_t products = ProductsOf(call.input(1).shape, call.input(2).shape, call.input(0).shape,
                                      call.attribute<bool>(1 + kTransposed));
  int64_t wanted = 0;
  for (int i = 0; i < 2; ++i) wanted += call.output(i).wanted ? 1 : 0;
  int64_t sum = 0;
  return __builtin_mul_overflow(products, wanted, &sum) ? products : sum;
}

}  // namespace

extern constinit const Operator kConvolution = {
    .name = "Convolution",
    .summary =
        "The convolution of a batch with kernels, or the transposed one, in 1 to 3 "
        "dimensions.",
    .description =
        "out[n, o, p] = bias[o] + sum over c and k of weight[o, c, k] * input[n, c, p * stride - "
        "padding + k * dilation], c over the channels of o's group; outside of the input there are "
        "zeros.\n"
        "An extent of out is (extent + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1, "
        "rounded down.\n"
        "transposed is its gradient with respect to the input, applied to input: weight is (C, "
        "Cout/groups, ...), an extent of out is (extent - 1) * stride - 2 * padding + dilation * "
        "(kernel - 1) + output_padding + 1, and output_padding is less than the stride or the "
        "dilation. Elsewhere output_padding has no effect.\n"
        "A list of one entry stands for all dimensions. Sums are made in float32, in an order that "
        "follows from the shapes, and rounded once to out's dtype. A kernel's element that is "
        "infinite or NaN makes NaN also of zeros of the padding. An input without the batch's "
        "dimension is not taken.\n"
        "cube_math_type has no effect on the CPU.",
    .inputs = kForwardInputs,
    .attributes = kForwardAttributes,
    .outputs = kForwardOutputs,
    .support = kProductSupport,
    .gradient = {.op = "ConvolutionBackward",
                 .inputs = kTakes,
                 .outputs = kGives,
                 .output_mask = "output_mask"},
    .c_order = kForwardOrder,
    .infer = InferConvolution,
    .operations = ConvolutionOperations,
};

extern constinit const Operator kConvolutionBackward = {
    .name = "ConvolutionBackward",
    .summary = "Gradients of Convolution with respect to its input, weight and bias.",
    .description =
        "grad_input[n, c, x] = sum over o, p and k with p * stride - padding + k * dilation = x of "
        "weight[o, c, k] * grad_output[n, o, p]\n"
        "grad_weight[o, c, k] = sum over n and p of grad_output[n, o, p] * input[n, c, p * stride "
        "- padding + k * dilation]\n"
        "grad_bias[o] = sum over n and p of grad_output[n, o, p]\n"
        "The other attributes are those of the forward; with transposed the roles of input and "
        "grad_output are exchanged in the first two. Sums are made in float32, in an order that "
        "follows from the shapes, and rounded once to the output's dtype.\n"
        "An output that output_mask leaves out is empty and not computed.\n"
        "cube_math_type has no effect on the CPU.",
    .inputs = kBackwardInputs,
    .attributes = kBackwardAttributes,
    .outputs = kBackwardOutputs,
    .support = kProductSupport,
    .c_order = kBackwardOrder,
    .infer = InferConvolutionBackward,
    .operations = ConvolutionBackwardOperations,
};

}  // namespace opserve::convolution
