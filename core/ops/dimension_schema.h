// What the schemas of operators share that work along one dimension. core/ops only.
#pragma once

#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/op/infer_checks.h"
#include "core/op/op_call.h"
#include "core/op/operator.h"

namespace opserve {

inline constexpr AttributeParam kDimAttribute = {
    .name = "dim",
    .summary = "the dimension along which it works; a negative one counts from the last",
    .kind = AttributeKind::kInt};

// Attribute `attribute` is a dimension of `shape`. A scalar has one, as in PyTorch.
inline absl::Status CheckDimension(const OpCall& call, int attribute, const Dims& shape) {
  const auto rank = std::max<int64_t>(1, static_cast<int64_t>(shape.size()));
  const int64_t dim = call.attribute<int64_t>(attribute);
  if (dim >= -rank && dim < rank) return absl::OkStatus();
  return OutOfRange(
      call.op->attributes[static_cast<size_t>(attribute)].name,
      absl::StrCat("in [", -rank, ", ", rank - 1, "] for shape ", ShapeToString(shape)),
      absl::StrCat(dim));
}

// The inputs have one shape.
inline absl::Status CheckOneShape(const OpCall& call) {
  const Dims& first = call.input(0).shape;
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    if (!call.inputs[i].has_value() || SameShape(call.inputs[i]->shape, first)) continue;
    return ShapeMismatch(call.op->inputs[i].name,
                         absl::StrCat("the shape of ", std::string(call.op->inputs[0].name), ", ",
                                      ShapeToString(first)),
                         ShapeToString(call.inputs[i]->shape));
  }
  return absl::OkStatus();
}

}  // namespace opserve
