// What the schemas of the operators that pad planes share. core/ops only.
#pragma once

#include "core/ops/plane_schema.h"

namespace opserve {

inline constexpr TensorParam kPadRowInputs[] = {
    {"self", "the input", "(C, W) or (N, C, W)", kFloatDTypes}};
inline constexpr TensorParam kPadRowGradientInputs[] = {
    kPlaneGradient, {"self", "the forward's input; not read", "(C, W) or (N, C, W)", kFloatDTypes}};
inline constexpr TensorParam kPadOutputs[] = {
    {"out", "the result", "self's, longer by padding", kFloatDTypes}};
inline constexpr AttributeParam kPadRowAttributes[] = {
    {.name = "padding",
     .summary = "elements before and behind each row; negative ones are left out of it",
     .kind = AttributeKind::kIntList,
     .list_length = 2}};
inline constexpr AttributeParam kPadPlaneAttributes[] = {
    {.name = "padding",
     .summary = "columns left and right, rows above and below of each plane; negative ones are "
                "left out of it",
     .kind = AttributeKind::kIntList,
     .list_length = 4}};

enum class PadLimit : uint8_t { kNone, kBelowExtent };

// The last extent of `shape` but `from_back` with its padding.
inline absl::StatusOr<int64_t> PaddedExtent(const OpCall& call, int64_t extent, size_t from_back,
                                            PadLimit limit) {
  constexpr int64_t kMost = int64_t{1} << 60;
  const auto& padding = call.attribute<PlaneInts>(0);
  for (size_t i = 2 * from_back; i < 2 * from_back + 2; ++i) {
    const std::string got = absl::StrCat(padding[i], " at ", i);
    if (padding[i] > kMost || padding[i] < -kMost)
      return OutOfRange("padding", "numbers in [-2^60, 2^60]", got);
    if (limit == PadLimit::kBelowExtent && padding[i] >= extent)
      return OutOfRange("padding", absl::StrCat("< ", extent, ", the extent that it reflects"),
                        got);
  }
  const int64_t padded = extent + padding[2 * from_back] + padding[2 * from_back + 1];
  if (padded >= 1) return padded;
  return OutOfRange("padding", "an output of 1 element or more along each dimension",
                    absl::StrCat(padded));
}

// Of input `self`.
inline absl::StatusOr<Dims> PaddedShape(const OpCall& call, int self, size_t axes, PadLimit limit) {
  Dims shape = call.input(self).shape;
  for (size_t from_back = 0; from_back < axes; ++from_back) {
    int64_t& extent = shape[shape.size() - 1 - from_back];
    OPSERVE_ASSIGN_OR_RETURN(extent, PaddedExtent(call, extent, from_back, limit));
  }
  OPSERVE_RETURN_IF_ERROR(CheckCountable("padding", shape));
  return shape;
}

template <size_t kAxes, PadLimit kLimit>
absl::Status InferPad(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckPlaneDTypes(call, 1));
  OPSERVE_RETURN_IF_ERROR(CheckPlaneAttributes(call));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  OPSERVE_RETURN_IF_ERROR(CheckPlanes(call, 0, kAxes));
  OPSERVE_ASSIGN_OR_RETURN(const Dims shape, PaddedShape(call, 0, kAxes, kLimit));
  return SettleOutput(call, 0, call.input(0).dtype, shape);
}

template <size_t kAxes, PadLimit kLimit>
absl::Status InferPadBackward(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckPlaneDTypes(call, 2));
  OPSERVE_RETURN_IF_ERROR(CheckPlaneAttributes(call));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  OPSERVE_RETURN_IF_ERROR(CheckPlanes(call, 1, kAxes));
  OPSERVE_ASSIGN_OR_RETURN(const Dims shape, PaddedShape(call, 1, kAxes, kLimit));
  OPSERVE_RETURN_IF_ERROR(CheckPlaneShape(call, 0, shape));
  return SettleOutput(call, 0, call.input(0).dtype, call.input(1).shape);
}

struct PadSchema {
  std::string_view name;
  std::string_view summary;
  std::string_view description;
  std::string_view gradient = {};  // of the forward
};

template <size_t kAxes, PadLimit kLimit>
constexpr Operator Pad(const PadSchema& schema) {
  return {.name = schema.name,
          .summary = schema.summary,
          .description = schema.description,
          .inputs = kAxes == 1 ? kPadRowInputs : kPlaneInputs,
          .attributes = kAxes == 1 ? kPadRowAttributes : kPadPlaneAttributes,
          .outputs = kPadOutputs,
          .support = kPlaneSupport,
          .gradient = {.op = schema.gradient, .inputs = kTakesPlanes, .outputs = kGivesPlanes},
          .infer = InferPad<kAxes, kLimit>};
}

template <size_t kAxes, PadLimit kLimit>
constexpr Operator PadBackward(const PadSchema& schema) {
  return {.name = schema.name,
          .summary = schema.summary,
          .description = schema.description,
          .inputs = kAxes == 1 ? kPadRowGradientInputs : kPlaneGradientInputs,
          .attributes = kAxes == 1 ? kPadRowAttributes : kPadPlaneAttributes,
          .outputs = kPlaneGradientOutputs,
          .support = kPlaneSupport,
          .infer = InferPadBackward<kAxes, kLimit>};
}

}  // namespace opserve
