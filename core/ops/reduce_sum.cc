// ReduceSum and Mean: schemas.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/op/reduced_dims.h"
#include "core/ops/activation_schema.h"
#include "core/ops/dtype_schema.h"

namespace opserve::reduce_sum {
namespace {

constexpr TensorParam kOutputs[] = {
    {"out", "the result", "self's without the dimensions in dims; with keep_dims these are 1",
     kFloatDTypes}};

constexpr AttributeParam Dimensions(std::string_view name) {
  return {.name = name,
          .summary =
              "the dimensions over which it goes, each once; negative ones count from the "
              "last; none: all",
          .kind = AttributeKind::kIntList};
}
constexpr AttributeParam KeepDimensions(std::string_view name) {
  return {.name = name,
          .summary = "whether out keeps those dimensions, with extent 1",
          .kind = AttributeKind::kBool,
          .default_value = AttributeDefault::Bool(false)};
}
constexpr AttributeParam kDType = {.name = "dtype",
                                   .summary = "the dtype of out",
                                   .kind = AttributeKind::kInt,
                                   .default_value = AttributeDefault::Int(kDTypeOfSelf),
                                   .choices = kDTypeChoices,
                                   .c_type = "int32_t"};
constexpr AttributeParam kSumAttributes[] = {Dimensions("dims"), KeepDimensions("keep_dims"),
                                             kDType};
constexpr AttributeParam kMeanAttributes[] = {Dimensions("dim"), KeepDimensions("keep_dim"),
                                              kDType};

// The dimensions are ones of self's, each once. A scalar has one, as in PyTorch.
absl::Status CheckDimensions(const OpCall& call) {
  const std::string name(call.op->attributes[0].name);
  const auto& dims = call.attribute<std::vector<int64_t>>(0);
  const auto rank = std::max<int64_t>(1, call.input(0).rank());
  std::vector<bool> is_taken(static_cast<size_t>(rank), false);
  for (size_t i = 0; i < dims.size(); ++i) {
    const std::string got = absl::StrCat(dims[i], " at ", i);
    if (dims[i] < -rank || dims[i] >= rank)
      return OutOfRange(name, absl::StrCat("in [", -rank, ", ", rank, ")"), got);
    const auto dim = static_cast<size_t>(dims[i] < 0 ? dims[i] + rank : dims[i]);
    if (is_taken[dim]) return InvalidParameter(name, "each dimension once", got);
    is_taken[dim] = true;
  }
  return absl::OkStatus();
}

absl::Status Infer(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, 2));
  OPSERVE_RETURN_IF_ERROR(CheckInputsSupported(call));
  const DType asked = DTypeOfChoice(call.attribute<int64_t>(2));
  if (asked != DType::kUndefined && !call.supported().Contains(asked))
    return UnsupportedDType("dtype", call.supported().ToString(), DTypeName(asked));
  const DType dtype = asked == DType::kUndefined ? call.input(0).dtype : asked;
  if (OutputDType(call, 0, dtype) != dtype)
    return UnsupportedDType("out", DTypeName(dtype), DTypeName(OutputDType(call, 0, dtype)));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  OPSERVE_RETURN_IF_ERROR(CheckDimensions(call));
  const ReducedDims reduced(call);
  Dims shape;
  for (size_t i = 0; i < call.input(0).shape.size(); ++i) {
    if (!reduced.Contains(i)) {
      shape.push_back(call.input(0).shape[i]);
    } else if (call.attribute<bool>(1)) {
      shape.push_back(1);
    }
  }
  return SettleOutput(call, 0, dtype, shape);
}

constexpr Operator Sum(std::string_view name, std::string_view summary,
                       std::string_view description, std::span<const AttributeParam> attributes) {
  return {.name = name,
          .summary = summary,
          .description = description,
          .inputs = kActivationInputs,
          .attributes = attributes,
          .outputs = kOutputs,
          .support = kActivationSupport,
          .infer = Infer};
}

}  // namespace

extern constinit const Operator kReduceSum = Sum(
    "ReduceSum", "The sum of a tensor's elements over some of its dimensions.",
    "out = Σ self over dims\n"
    "It adds in float32, sums of many terms in float64, and rounds once. The sum of no elements "
    "is 0. The gradient of what was broadcast is the sum over the dimensions that broadcasting "
    "made. In C dtype is an aclDataType.",
    kSumAttributes);

extern constinit const Operator kMean =
    Sum("Mean", "The mean of a tensor's elements over some of its dimensions.",
        "out = Σ self / n over dim, n the elements of each sum\n"
        "It adds as ReduceSum does. The mean of no elements is NaN. In C dtype is an aclDataType.",
        kMeanAttributes);

}  // namespace opserve::reduce_sum
