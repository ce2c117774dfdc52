// What the schemas of operators on planes share: pooling, padding, resampling of the last
// dimensions of a tensor. core/ops only.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/op/infer_checks.h"
#include "core/op/op_call.h"
#include "core/op/plane_window.h"
#include "core/tensor/shape.h"

namespace opserve {

using PlaneInts = std::vector<int64_t>;

inline constexpr ProfileSupport kPlaneSupport = {kFloatDTypes, kFloatDTypes, kFloatDTypes,
                                                 DTypeSet{DType::kFloat16, DType::kFloat32},
                                                 DTypeSet{DType::kFloat16, DType::kFloat32}};

inline constexpr std::string_view kPlaneShape = "(C, H, W) or (N, C, H, W)";
inline constexpr std::string_view kPlaneResult = "self's, with the output's H and W";
inline constexpr TensorParam kPlaneInput = {"self", "the input", kPlaneShape, kFloatDTypes};
inline constexpr TensorParam kPlaneOutput = {"out", "the result", kPlaneResult, kFloatDTypes};
inline constexpr TensorParam kPlaneGradient = {"grad_output", "gradient of the forward's result",
                                               "the forward's result's", kFloatDTypes};
// Of the forward's input, of which only the shape counts.
inline constexpr TensorParam kPlaneForwardInput = {"self", "the forward's input; not read",
                                                   kPlaneShape, kFloatDTypes};
inline constexpr TensorParam kPlaneInputGradient = {"grad_input", "gradient of self", "self's",
                                                    kFloatDTypes};

inline constexpr TensorParam kPlaneInputs[] = {kPlaneInput};
inline constexpr TensorParam kPlaneOutputs[] = {kPlaneOutput};
inline constexpr TensorParam kPlaneGradientInputs[] = {kPlaneGradient, kPlaneForwardInput};
inline constexpr TensorParam kPlaneGradientOutputs[] = {kPlaneInputGradient};

inline constexpr GradientInput kTakesPlanes[] = {
    {"grad_output", GradientInput::Source::kOutputGradient, "out"},
    {"self", GradientInput::Source::kInput, "self"}};
inline constexpr GradientOutput kGivesPlanes[] = {{"grad_input", "self"}};

// PyTorch's ints here are 32 bits wide.
inline constexpr AttributeRange kWindowExtents = {.minimum = 1,
                                                  .maximum = std::numeric_limits<int32_t>::max()};
inline constexpr AttributeRange kWindowPaddings = {.minimum = 0,
                                                   .maximum = std::numeric_limits<int32_t>::max()};

constexpr AttributeParam PlaneIntList(std::string_view name, std::string_view summary,
                                      std::optional<AttributeRange> range = std::nullopt) {
  return {.name = name, .summary = summary, .kind = AttributeKind::kIntList, .range = range};
}

inline constexpr AttributeParam kKernelSize =
    PlaneIntList("kernel_size", "height and width of the windows, or one for both", kWindowExtents);
inline constexpr AttributeParam kWindowStride =
    PlaneIntList("stride", "from one window to the next, likewise; those of kernel_size when empty",
                 kWindowExtents);
inline constexpr AttributeParam kWindowPadding = PlaneIntList(
    "padding", "rows and columns around each plane, likewise; at most half of kernel_size",
    kWindowPaddings);
inline constexpr AttributeParam kCeilMode = {
    .name = "ceil_mode",
    .summary = "whether a last window may jut out, if it begins in the plane or the padding before",
    .kind = AttributeKind::kBool,
    .default_value = AttributeDefault::Bool(false)};

inline std::string_view PlaneAttributeName(const OpCall& call, int attribute) {
  return call.op->attributes[static_cast<size_t>(attribute)].name;
}

// The output that is asked for has the dtype of input 0, and so have the inputs [1, inputs), all of
// them supported.
inline absl::Status CheckPlaneDTypes(const OpCall& call, int inputs) {
  const DType dtype = call.input(0).dtype;
  const auto check = [&](std::string_view parameter, DType got) {
    if (got == dtype) return absl::OkStatus();
    return UnsupportedDType(parameter,
                            absl::StrCat("the dtype of ", std::string(call.op->inputs[0].name),
                                         ", ", std::string(DTypeName(dtype))),
                            DTypeName(got));
  };
  for (int i = 0; i < inputs; ++i) OPSERVE_RETURN_IF_ERROR(CheckInputSupported(call, i));
  for (int i = 1; i < inputs; ++i) {
    OPSERVE_RETURN_IF_ERROR(
        check(call.op->inputs[static_cast<size_t>(i)].name, call.input(i).dtype));
  }
  return check(call.op->outputs[0].name, OutputDType(call, 0, dtype));
}

// Every attribute is what the schema says.
inline absl::Status CheckPlaneAttributes(const OpCall& call) {
  for (size_t i = 0; i < call.attributes.size(); ++i)
    OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, static_cast<int>(i)));
  return absl::OkStatus();
}

// A list of one or two ints; of none, where that stands for something.
inline absl::Status CheckPlaneList(const OpCall& call, int attribute, bool may_be_empty) {
  const size_t size = call.attribute<PlaneInts>(attribute).size();
  if (size == 1 || size == 2 || (size == 0 && may_be_empty)) return absl::OkStatus();
  return InvalidParameter(PlaneAttributeName(call, attribute),
                          may_be_empty ? "at most 2 ints" : "1 or 2 ints",
                          absl::StrCat(size, " ints"));
}

// Tensors of planes: their dimensions are `axes` behind one or two; there are elements along those,
// also of an empty tensor at most 2^60, so that sums with paddings do not overflow.
inline absl::Status CheckPlanes(const OpCall& call, int input, size_t axes) {
  const Dims& shape = call.input(input).shape;
  const std::string_view name = call.op->inputs[static_cast<size_t>(input)].name;
  if (shape.size() != axes + 1 && shape.size() != axes + 2) {
    return ShapeMismatch(name, absl::StrCat("rank ", axes + 1, " or ", axes + 2),
                         absl::StrCat("rank ", shape.size()));
  }
  constexpr int64_t kMost = int64_t{1} << 60;
  if (std::all_of(shape.end() - static_cast<ptrdiff_t>(axes), shape.end(),
                  [](int64_t extent) { return extent > 0 && extent <= kMost; }))
    return absl::OkStatus();
  return ShapeMismatch(name,
                       absl::StrCat("1 to 2^60 elements along the last ", axes == 1 ? "" : "2 ",
                                    axes == 1 ? "dimension" : "dimensions"),
                       ShapeToString(shape));
}

// `shape` with other last extents.
inline Dims WithLastExtents(Dims shape, std::span<const int64_t> extents) {
  std::copy(extents.begin(), extents.end(), shape.end() - static_cast<ptrdiff_t>(extents.size()));
  return shape;
}

// Fewer than 2^60 elements; `parameter` is blamed.
inline absl::Status CheckCountable(std::string_view parameter, const Dims& shape) {
  constexpr int64_t kMostElements = std::numeric_limits<int64_t>::max() / 8;
  const std::optional<int64_t> elements = NumElements(shape);
  if (elements.has_value() && *elements <= kMostElements) return absl::OkStatus();
  return OutOfRange(parameter, "an output of fewer than 2^60 elements", ShapeToString(shape));
}

// The shape of an input that the forward gives.
inline absl::Status CheckPlaneShape(const OpCall& call, int input, const Dims& shape) {
  if (SameShape(call.input(input).shape, shape)) return absl::OkStatus();
  return ShapeMismatch(
      call.op->inputs[static_cast<size_t>(input)].name,
      absl::StrCat("shape ", ShapeToString(shape), ", that of the forward's result"),
      ShapeToString(call.input(input).shape));
}

// Attributes 0 to 2 of a pooling operator are kernel_size, stride and padding.
inline absl::Status CheckWindows(const OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckPlaneAttributes(call));
  for (int i = 0; i < 3; ++i) OPSERVE_RETURN_IF_ERROR(CheckPlaneList(call, i, i == 1));
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t kernel = AlongAxis(call.attribute<PlaneInts>(0), axis);
    const int64_t padding = AlongAxis(call.attribute<PlaneInts>(2), axis);
    if (padding <= kernel / 2) continue;
    return OutOfRange("padding", absl::StrCat("<= half of kernel_size, ", kernel / 2),
                      absl::StrCat(padding));
  }
  return absl::OkStatus();
}

// That of input `self`, pooled by windows along each axis.
inline absl::StatusOr<Dims> PooledShape(const OpCall& call, int self,
                                        std::span<const PlaneWindow> windows, bool ceil_mode) {
  const Dims& shape = call.input(self).shape;
  int64_t extents[2];
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t extent = shape[shape.size() - 2 + axis];
    extents[axis] = windows[axis].Outputs(extent, ceil_mode);
    if (extents[axis] >= 1) continue;
    return OutOfRange("kernel_size",
                      absl::StrCat("a window within the ", axis == 0 ? "height" : "width", " of ",
                                   extent, " and its padding"),
                      absl::StrCat(windows[axis].reach(), " elements long"));
  }
  const Dims pooled = WithLastExtents(shape, extents);
  OPSERVE_RETURN_IF_ERROR(CheckCountable("padding", pooled));
  return pooled;
}

// Elements in windows of a planned pooling call, at most: of `outputs` windows over `self`.
inline int64_t WindowOperations(const OpCall& call, const TensorDesc& self,
                                const TensorDesc& outputs) {
  int64_t kernel[2];
  for (size_t axis = 0; axis < 2; ++axis) {
    kernel[axis] = std::min(AlongAxis(call.attribute<PlaneInts>(0), axis),
                            self.shape[self.shape.size() - 2 + axis]);
  }
  return SaturatingProduct({outputs.num_elements(), kernel[0], kernel[1]});
}

}  // namespace opserve
