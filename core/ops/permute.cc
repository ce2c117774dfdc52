// Permute: schema.
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/ops/activation_schema.h"

namespace opserve::permute {
namespace {

constexpr TensorParam kOutputs[] = {
    {"out", "the elements in another order", "self's extents in the order of dims", kFloatDTypes}};
constexpr AttributeParam kAttributes[] = {
    {.name = "dims",
     .summary = "the dimensions of self in the order of out's, each once; negative ones count from "
                "the last",
     .kind = AttributeKind::kIntList}};

// The extents in the order of dims.
absl::StatusOr<Dims> PermutedShape(const OpCall& call) {
  const auto& dims = call.attribute<std::vector<int64_t>>(0);
  const Dims& self = call.input(0).shape;
  const auto rank = static_cast<int64_t>(self.size());
  if (dims.size() != self.size()) {
    return InvalidParameter("dims", absl::StrCat(rank, " dimensions"),
                            absl::StrCat(dims.size(), " dimensions"));
  }
  Dims shape;
  std::vector<bool> is_taken(dims.size(), false);
  for (size_t i = 0; i < dims.size(); ++i) {
    const std::string got = absl::StrCat(dims[i], " at ", i);
    if (dims[i] < -rank || dims[i] >= rank)
      return OutOfRange("dims", absl::StrCat("in [", -rank, ", ", rank, ")"), got);
    const auto dim = static_cast<size_t>(dims[i] < 0 ? dims[i] + rank : dims[i]);
    if (is_taken[dim]) return InvalidParameter("dims", "each dimension once", got);
    is_taken[dim] = true;
    shape.push_back(self[dim]);
  }
  return shape;
}

absl::Status Infer(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckInputsSupported(call));
  const DType dtype = call.input(0).dtype;
  if (OutputDType(call, 0, dtype) != dtype)
    return UnsupportedDType("out", DTypeName(dtype), DTypeName(OutputDType(call, 0, dtype)));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  OPSERVE_ASSIGN_OR_RETURN(const Dims shape, PermutedShape(call));
  return SettleOutput(call, 0, dtype, shape);
}

}  // namespace

extern constinit const Operator kPermute = {
    .name = "Permute",
    .summary = "A copy of a tensor with its dimensions in another order.",
    .description =
        "Dimension i of out is dimension dims[i] of self.\n"
        "Its gradient is Permute with the inverse order.",
    .inputs = kActivationInputs,
    .attributes = kAttributes,
    .outputs = kOutputs,
    .support = kActivationSupport,
    .infer = Infer};

}  // namespace opserve::permute
