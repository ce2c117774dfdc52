// What the schemas of the operators that resample planes share. core/ops only.
#pragma once

#include "core/ops/plane_schema.h"

namespace opserve {

inline constexpr std::string_view kUpsampleShape = "(N, C, H, W)";
inline constexpr TensorParam kUpsampleInputs[] = {
    {"self", "the input", kUpsampleShape, kFloatDTypes}};
inline constexpr TensorParam kUpsampleOutputs[] = {
    {"out", "the result", "(N, C, output_size[0], output_size[1])", kFloatDTypes}};
inline constexpr TensorParam kUpsampleGradientInputs[] = {
    {"grad_out", "gradient of the forward's result", "(N, C, output_size[0], output_size[1])",
     kFloatDTypes}};

inline constexpr AttributeParam kUpsampleOutputSize = {.name = "output_size",
                                                       .summary = "height and width of the result",
                                                       .kind = AttributeKind::kIntList,
                                                       .range = kPositive,
                                                       .list_length = 2};
inline constexpr AttributeParam kUpsampleInputSize = {
    .name = "input_size",
    .summary = "shape of the forward's input: N, C, H, W",
    .kind = AttributeKind::kIntList,
    .range = kNotNegative,
    .list_length = 4};

constexpr AttributeParam UpsampleScale(std::string_view name, std::string_view summary) {
  return {.name = name,
          .summary = summary,
          .kind = AttributeKind::kFloat,
          .default_value = AttributeDefault::Float(0)};
}
inline constexpr AttributeParam kUpsampleScaleH = UpsampleScale(
    "scales_h", "factor of the height; where it is not positive, H_out / H stands for it");
inline constexpr AttributeParam kUpsampleScaleW = UpsampleScale(
    "scales_w", "factor of the width; where it is not positive, W_out / W stands for it");

inline absl::Status CheckUpsampleRank(const OpCall& call) {
  if (call.input(0).rank() == 4) return absl::OkStatus();
  return ShapeMismatch(call.op->inputs[0].name, "rank 4",
                       absl::StrCat("rank ", call.input(0).rank()));
}

// Attribute 0 is output_size.
inline absl::Status InferUpsample(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckPlaneDTypes(call, 1));
  OPSERVE_RETURN_IF_ERROR(CheckPlaneAttributes(call));
  OPSERVE_RETURN_IF_ERROR(CheckUpsampleRank(call));
  OPSERVE_RETURN_IF_ERROR(CheckPlanes(call, 0, 2));
  const Dims shape = WithLastExtents(call.input(0).shape, call.attribute<PlaneInts>(0));
  OPSERVE_RETURN_IF_ERROR(CheckCountable("output_size", shape));
  return SettleOutput(call, 0, call.input(0).dtype, shape);
}

// Attributes 0 and 1 are output_size and input_size.
inline absl::Status InferUpsampleBackward(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckPlaneDTypes(call, 1));
  OPSERVE_RETURN_IF_ERROR(CheckPlaneAttributes(call));
  OPSERVE_RETURN_IF_ERROR(CheckUpsampleRank(call));
  const auto& sizes = call.attribute<PlaneInts>(1);
  const Dims shape(sizes.begin(), sizes.end());
  if (shape[2] == 0 || shape[3] == 0)
    return OutOfRange("input_size", "H and W of 1 or more", ShapeToString(shape));
  OPSERVE_RETURN_IF_ERROR(CheckCountable("input_size", shape));
  const Dims outputs = WithLastExtents(shape, call.attribute<PlaneInts>(0));
  OPSERVE_RETURN_IF_ERROR(CheckCountable("output_size", outputs));
  OPSERVE_RETURN_IF_ERROR(CheckPlaneShape(call, 0, outputs));
  return SettleOutput(call, 0, call.input(0).dtype, shape);
}

}  // namespace opserve
