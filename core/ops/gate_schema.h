// What the schemas of the gates share: one half of a tensor times a function of the other. core/ops
// only.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/ops/activation_schema.h"

namespace opserve {

inline constexpr std::string_view kCutShape = "any of rank 1 or more, even along dim";
inline constexpr std::string_view kHalfShape = "that of a half";
inline constexpr AttributeParam kGateDim = {
    .name = "dim",
    .summary = "the dimension that is cut into halves; a negative one counts from the last",
    .kind = AttributeKind::kInt,
    .default_value = AttributeDefault::Int(-1)};

// The shape of a half of input `whole`.
inline absl::StatusOr<Dims> HalfShapeOf(const OpCall& call, int whole) {
  const std::string_view name = call.op->inputs[static_cast<size_t>(whole)].name;
  Dims shape = call.input(whole).shape;
  const auto rank = static_cast<int64_t>(shape.size());
  if (rank == 0) return ShapeMismatch(name, "rank >= 1", "rank 0");
  const int64_t dim = call.attribute<int64_t>(0);
  if (dim < -rank || dim >= rank)
    return OutOfRange("dim", absl::StrCat("in [", -rank, ", ", rank, ")"), absl::StrCat(dim));
  int64_t& extent = shape[static_cast<size_t>(dim < 0 ? dim + rank : dim)];
  if (extent % 2 != 0) {
    return ShapeMismatch(name, absl::StrCat("an even extent of dimension ", dim),
                         ShapeToString(shape));
  }
  extent /= 2;
  return shape;
}

// All that needs no shapes.
inline absl::StatusOr<DType> CheckGate(const OpCall& call) {
  for (size_t i = 0; i < call.attributes.size(); ++i)
    OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, static_cast<int>(i)));
  OPSERVE_ASSIGN_OR_RETURN(const DType promoted, CheckElementwise(call));
  for (int i = 1; i < static_cast<int>(call.outputs.size()); ++i) {
    OPSERVE_RETURN_IF_ERROR(CheckOutputSupported(call, i, promoted));
    OPSERVE_RETURN_IF_ERROR(CheckOutputCast(call, i, promoted));
  }
  return promoted;
}

// Input 0 is cut; each output is as a half.
inline absl::Status InferGate(OpCall& call) {
  OPSERVE_ASSIGN_OR_RETURN(const DType promoted, CheckGate(call));
  OPSERVE_ASSIGN_OR_RETURN(const Dims half, HalfShapeOf(call, 0));
  for (int i = 0; i < static_cast<int>(call.outputs.size()); ++i)
    OPSERVE_RETURN_IF_ERROR(SettleOutput(call, i, promoted, half));
  return absl::OkStatus();
}

// Input 1 is cut; the others are as a half, the output as the whole.
inline absl::Status InferGateGradient(OpCall& call) {
  OPSERVE_ASSIGN_OR_RETURN(const DType promoted, CheckGate(call));
  OPSERVE_ASSIGN_OR_RETURN(const Dims half, HalfShapeOf(call, 1));
  for (int i = 0; i < static_cast<int>(call.inputs.size()); ++i) {
    if (i == 1 || SameShape(call.input(i).shape, half)) continue;
    return ShapeMismatch(call.op->inputs[static_cast<size_t>(i)].name,
                         absl::StrCat("shape ", ShapeToString(half)),
                         ShapeToString(call.input(i).shape));
  }
  return SettleOutput(call, 0, promoted, call.input(1).shape);
}

}  // namespace opserve
