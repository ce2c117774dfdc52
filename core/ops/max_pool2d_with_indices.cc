// MaxPool2dWithIndices and MaxPool2dWithIndicesBackward: schema and inference.
#include "core/ops/plane_schema.h"

namespace opserve::max_pool2d_with_indices {
namespace {

constexpr int kDilation = 3;
constexpr int kCeil = 4;

constexpr DTypeSet kIndexDTypes{DType::kInt32, DType::kInt64};

constexpr AttributeParam kMaxPoolAttributes[] = {
    kKernelSize, kWindowStride, kWindowPadding,
    PlaneIntList("dilation", "from one element of a window to the next, likewise", kWindowExtents),
    kCeilMode};
constexpr TensorParam kMaxPoolOutputs[] = {
    kPlaneOutput,
    {"indices", "place of each result in its plane, row * W + column", kPlaneResult, kIndexDTypes}};
constexpr TensorParam kMaxPoolGradientInputs[] = {
    kPlaneGradient,
    kPlaneForwardInput,
    {"indices", "the forward's", "grad_output's", kIndexDTypes}};
constexpr GradientInput kTakesIndices[] = {
    {"grad_output", GradientInput::Source::kOutputGradient, "out"},
    {"self", GradientInput::Source::kInput, "self"},
    {"indices", GradientInput::Source::kOutput, "indices"}};

constexpr ProfileSupport kMaxPoolSupport = {kFloatDTypes, kFloatDTypes, kFloatDTypes, DTypeSet{},
                                            DTypeSet{}};

DTypeSet IndexDTypes(const OpCall& call) {
  return call.profile == Profile::kHost ? kIndexDTypes : DTypeSet{DType::kInt32};
}

absl::Status CheckIndexDType(const OpCall& call, DType dtype) {
  if (IndexDTypes(call).Contains(dtype)) return absl::OkStatus();
  return UnsupportedDType("indices", IndexDTypes(call).ToString(), DTypeName(dtype));
}

absl::Status CheckMaxPoolAttributes(const OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckWindows(call));
  OPSERVE_RETURN_IF_ERROR(CheckPlaneList(call, kDilation, false));
  const auto& dilation = call.attribute<PlaneInts>(kDilation);
  const bool dilated =
      std::any_of(dilation.begin(), dilation.end(), [](int64_t d) { return d > 1; });
  if (!dilated || call.profile == Profile::kHost) return absl::OkStatus();
  return OutOfRange("dilation", "1 on this product", absl::StrCat(dilation[0]));
}

absl::StatusOr<Dims> MaxPooledShape(const OpCall& call, int self) {
  PlaneWindow windows[2];
  for (size_t axis = 0; axis < 2; ++axis) {
    windows[axis] = PlaneWindow::Along(axis, call.attribute<PlaneInts>(0),
                                       call.attribute<PlaneInts>(1), call.attribute<PlaneInts>(2));
    windows[axis].dilation = AlongAxis(call.attribute<PlaneInts>(kDilation), axis);
  }
  return PooledShape(call, self, windows, call.attribute<bool>(kCeil));
}

// Of planes whose places an int32 holds.
bool IsOfInt32(const Dims& shape) {
  const int64_t area = SaturatingProduct({shape[shape.size() - 2], shape[shape.size() - 1]});
  return area <= std::numeric_limits<int32_t>::max();
}

absl::Status CheckIndexRange(const Dims& self, DType dtype) {
  if (dtype == DType::kInt64 || IsOfInt32(self)) return absl::OkStatus();
  return UnsupportedDType("indices", "int64, as a plane has 2^31 elements or more",
                          DTypeName(dtype));
}

absl::Status InferMaxPool(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckPlaneDTypes(call, 1));
  const DType indices = OutputDType(call, 1, DType::kInt32);
  OPSERVE_RETURN_IF_ERROR(CheckIndexDType(call, indices));
  OPSERVE_RETURN_IF_ERROR(CheckMaxPoolAttributes(call));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  OPSERVE_RETURN_IF_ERROR(CheckPlanes(call, 0, 2));
  OPSERVE_ASSIGN_OR_RETURN(const Dims shape, MaxPooledShape(call, 0));
  OPSERVE_RETURN_IF_ERROR(CheckIndexRange(call.input(0).shape, indices));
  OPSERVE_RETURN_IF_ERROR(SettleOutput(call, 0, call.input(0).dtype, shape));
  return SettleOutput(call, 1, DType::kInt32, shape);
}

absl::Status InferMaxPoolBackward(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckPlaneDTypes(call, 2));
  OPSERVE_RETURN_IF_ERROR(CheckIndexDType(call, call.input(2).dtype));
  OPSERVE_RETURN_IF_ERROR(CheckMaxPoolAttributes(call));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  OPSERVE_RETURN_IF_ERROR(CheckPlanes(call, 1, 2));
  OPSERVE_ASSIGN_OR_RETURN(const Dims shape, MaxPooledShape(call, 1));
  OPSERVE_RETURN_IF_ERROR(CheckPlaneShape(call, 0, shape));
  OPSERVE_RETURN_IF_ERROR(CheckPlaneShape(call, 2, shape));
  return SettleOutput(call, 0, call.input(0).dtype, call.input(1).shape);
}

int64_t MaxPoolOperations(const OpCall& call) {
  return WindowOperations(call, call.input(0), call.output(0).desc);
}

}  // namespace

extern constinit const Operator kMaxPool2dWithIndices = {
    .name = "MaxPool2dWithIndices",
    .summary = "The largest element of each window of a plane, and its place.",
    .description =
        "out[h][w] = largest of the elements (h * stride[0] - padding[0] + i * dilation[0], w * "
        "stride[1] - padding[1] + j * dilation[1]) that lie in the plane, 0 <= i < kernel_size[0], "
        "0 <= j < kernel_size[1]; indices its place, row * W + column. Of equal ones the first "
        "counts, but of NaNs, each of which is larger than any number, the last. A window without "
        "an element, which dilation makes possible, gives -inf and the place -1.\n"
        "H_out = floor((H + 2 * padding[0] - dilation[0] * (kernel_size[0] - 1) - 1) / stride[0]) "
        "+ 1, with ceil_mode rounded up, but without a window that begins behind the plane. W_out "
        "likewise.\n"
        "indices are int32, as aclnn has them, or int64, as PyTorch has them, where that is asked "
        "for; planes of 2^31 elements and more take int64. The profiles atlas-a2 and atlas-a3 have "
        "int32 and no dilation.",
    .inputs = kPlaneInputs,
    .attributes = kMaxPoolAttributes,
    .outputs = kMaxPoolOutputs,
    .support = kMaxPoolSupport,
    .gradient = {.op = "MaxPool2dWithIndicesBackward",
                 .inputs = kTakesIndices,
                 .outputs = kGivesPlanes},
    .infer = InferMaxPool,
    .operations = MaxPoolOperations,
};

extern constinit const Operator kMaxPool2dWithIndicesBackward = {
    .name = "MaxPool2dWithIndicesBackward",
    .summary = "Gradient of MaxPool2dWithIndices.",
    .description =
        "grad_input = for each element the sum of the grad_output of its plane whose index it is, "
        "in their order, in float32. Of self only the shape counts.\n"
        "An index is that of an element of the plane, whether or not the window has it, or -1: its "
        "gradient then goes nowhere. Any other is an error of phase two. The profiles atlas-a2 and "
        "atlas-a3 take int32 and no dilation.",
    .inputs = kMaxPoolGradientInputs,
    .attributes = kMaxPoolAttributes,
    .outputs = kPlaneGradientOutputs,
    .support = kMaxPoolSupport,
    .infer = InferMaxPoolBackward,
};

}  // namespace opserve::max_pool2d_with_indices
