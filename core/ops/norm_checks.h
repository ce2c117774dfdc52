// What the norms' inference functions share.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/op/infer_checks.h"
#include "core/op/op_call.h"

namespace opserve {

// `dtype` is that of input `like`.
inline absl::Status CheckDTypeLike(const OpCall& call, std::string_view parameter, DType dtype,
                                   int like) {
  const DType want = call.input(like).dtype;
  if (dtype == want) return absl::OkStatus();
  return UnsupportedDType(
      parameter,
      absl::StrCat("the dtype of ", std::string(call.op->inputs[static_cast<size_t>(like)].name),
                   ", ", std::string(DTypeName(want))),
      DTypeName(dtype));
}

// `dtype` is that of input `like`, or float32.
inline absl::Status CheckDTypeLikeOrFloat(const OpCall& call, std::string_view parameter,
                                          DType dtype, int like) {
  if (dtype == DType::kFloat32) return absl::OkStatus();
  return CheckDTypeLike(call, parameter, dtype, like);
}

// An output that is wanted has a place.
inline absl::Status CheckOutputMask(const OpCall& call, int attribute) {
  OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, attribute));
  const auto& mask = call.attribute<std::vector<bool>>(attribute);
  for (size_t i = 0; i < mask.size(); ++i) {
    if (!mask[i] || call.outputs[i].origin != OutputSlot::Origin::kMissing) continue;
    return InvalidParameter(call.op->outputs[i].name, "a tensor, as output_mask asks for it",
                            "none");
  }
  return absl::OkStatus();
}

// The input, where it was given, has as many elements as the extents say, whatever its shape;
// `words` of them.
inline absl::Status CheckNumElements(const OpCall& call, int input,
                                     std::span<const int64_t> extents, std::string_view words) {
  if (!call.has_input(input)) return absl::OkStatus();
  const int64_t got = call.input(input).num_elements();
  if (NumElements(extents) == got) return absl::OkStatus();
  return ShapeMismatch(call.op->inputs[static_cast<size_t>(input)].name,
                       absl::StrCat(std::string(words), " elements"),
                       absl::StrCat(got, " in shape ", ShapeToString(call.input(input).shape)));
}

// The input, where it was given, has that shape.
inline absl::Status CheckShape(const OpCall& call, int input, std::span<const int64_t> shape) {
  if (!call.has_input(input) || SameShape(call.input(input).shape, shape)) return absl::OkStatus();
  return ShapeMismatch(call.op->inputs[static_cast<size_t>(input)].name,
                       absl::StrCat("shape ", ShapeToString(shape)),
                       ShapeToString(call.input(input).shape));
}

// The last dimensions of the data are `normalized`, which `parameter` says, at least one.
inline absl::Status CheckNormalized(const OpCall& call, int data, std::span<const int64_t> shape,
                                    std::string_view parameter) {
  const Dims& all = call.input(data).shape;
  const std::string name(call.op->inputs[static_cast<size_t>(data)].name);
  if (!shape.empty() && shape.size() <= all.size() &&
      SameShape(std::span(all).last(shape.size()), shape)) {
    return absl::OkStatus();
  }
  return ShapeMismatch(parameter,
                       absl::StrCat("the last dimensions of ", name, ", ", ShapeToString(all)),
                       ShapeToString(shape));
}

// Of the groups that the last `normalized` dimensions of `shape` are: 1 in their place.
inline Dims StatisticsShape(const Dims& shape, size_t normalized) {
  Dims statistics = shape;
  std::fill(statistics.end() - static_cast<ptrdiff_t>(normalized), statistics.end(), 1);
  return statistics;
}

}  // namespace opserve
