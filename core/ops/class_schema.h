// What the schemas of losses share whose targets are classes. core/ops only.
#pragma once

#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/op/infer_checks.h"
#include "core/ops/loss_schema.h"

namespace opserve {

inline constexpr DTypeSet kClassDTypes{DType::kInt64, DType::kInt32, DType::kUint8};

inline constexpr AttributeParam kIgnoreIndexAttribute = {
    .name = "ignore_index",
    .summary = "the class of targets that do not count",
    .kind = AttributeKind::kInt,
    .default_value = AttributeDefault::Int(-100)};

// Of input `target`.
inline absl::Status CheckClassDType(const OpCall& call, int target) {
  const DType dtype = call.input(target).dtype;
  if (kClassDTypes.Contains(dtype)) return absl::OkStatus();
  return UnsupportedDType(call.op->inputs[static_cast<size_t>(target)].name,
                          kClassDTypes.ToString(), DTypeName(dtype));
}

inline absl::Status CheckInputShape(const OpCall& call, int input, std::span<const int64_t> want) {
  if (!call.has_input(input) || SameShape(call.input(input).shape, want)) return absl::OkStatus();
  return ShapeMismatch(call.op->inputs[static_cast<size_t>(input)].name,
                       absl::StrCat("shape ", ShapeToString(want)),
                       ShapeToString(call.input(input).shape));
}

// A scalar, whatever its rank.
inline absl::Status CheckSingle(const OpCall& call, int input) {
  if (!call.has_input(input) || call.input(input).num_elements() == 1) return absl::OkStatus();
  return ShapeMismatch(call.op->inputs[static_cast<size_t>(input)].name, "a single element",
                       absl::StrCat("shape ", ShapeToString(call.input(input).shape)));
}

}  // namespace opserve
