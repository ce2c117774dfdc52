// AvgPool2d and AvgPool2dBackward: schema and inference.
#include "core/ops/plane_schema.h"

namespace opserve::avg_pool2d {
namespace {

constexpr AttributeParam kAvgPoolAttributes[] = {
    kKernelSize,
    kWindowStride,
    kWindowPadding,
    kCeilMode,
    {.name = "count_include_pad",
     .summary = "whether a mean is over the padding in its window, too",
     .kind = AttributeKind::kBool,
     .default_value = AttributeDefault::Bool(true)},
    {.name = "divisor_override",
     .summary = "what sums are divided by; 0: by the number of their terms",
     .kind = AttributeKind::kInt,
     .default_value = AttributeDefault::Int(0)},
    {.name = "cube_math_type",
     .summary = "how an NPU's matrix unit may compute; of no effect on the CPU",
     .kind = AttributeKind::kInt,
     .default_value = AttributeDefault::Int(0),
     .range = AttributeRange{.minimum = 0, .maximum = 3},
     .c_type = "int8_t"}};

absl::StatusOr<Dims> AvgPooledShape(const OpCall& call, int self) {
  const auto& kernel = call.attribute<PlaneInts>(0);
  const auto& stride = call.attribute<PlaneInts>(1);
  const auto& padding = call.attribute<PlaneInts>(2);
  const PlaneWindow windows[] = {PlaneWindow::Along(0, kernel, stride, padding),
                                 PlaneWindow::Along(1, kernel, stride, padding)};
  return PooledShape(call, self, windows, call.attribute<bool>(3));
}

absl::Status InferAvgPool(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckPlaneDTypes(call, 1));
  OPSERVE_RETURN_IF_ERROR(CheckWindows(call));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  OPSERVE_RETURN_IF_ERROR(CheckPlanes(call, 0, 2));
  OPSERVE_ASSIGN_OR_RETURN(const Dims shape, AvgPooledShape(call, 0));
  return SettleOutput(call, 0, call.input(0).dtype, shape);
}

absl::Status InferAvgPoolBackward(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckPlaneDTypes(call, 2));
  OPSERVE_RETURN_IF_ERROR(CheckWindows(call));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  OPSERVE_RETURN_IF_ERROR(CheckPlanes(call, 1, 2));
  OPSERVE_ASSIGN_OR_RETURN(const Dims shape, AvgPooledShape(call, 1));
  OPSERVE_RETURN_IF_ERROR(CheckPlaneShape(call, 0, shape));
  return SettleOutput(call, 0, call.input(0).dtype, call.input(1).shape);
}

int64_t AvgPoolOperations(const OpCall& call) {
  return WindowOperations(call, call.input(0), call.output(0).desc);
}
int64_t AvgPoolBackwardOperations(const OpCall& call) {
  return WindowOperations(call, call.input(1), call.input(0));
}

}  // namespace

extern constinit const Operator kAvgPool2d = {
    .name = "AvgPool2d",
    .summary = "The mean of each window of a plane.",
    .description =
        "out[h][w] = sum of the window that begins at (h * stride[0] - padding[0], w * stride[1] - "
        "padding[1]) / divisor, padding counting as zeros. The divisor is divisor_override where "
        "that is not 0 (PyTorch has None for it); else the number of the window's elements in the "
        "plane and, with count_include_pad, in its padding.\n"
        "H_out = floor((H + 2 * padding[0] - kernel_size[0]) / stride[0]) + 1, with ceil_mode "
        "rounded up, but without a window that begins behind the plane. W_out likewise. Sums are "
        "float64.",
    .inputs = kPlaneInputs,
    .attributes = kAvgPoolAttributes,
    .outputs = kPlaneOutputs,
    .support = kPlaneSupport,
    .gradient = {.op = "AvgPool2dBackward", .inputs = kTakesPlanes, .outputs = kGivesPlanes},
    .infer = InferAvgPool,
    .operations = AvgPoolOperations,
};

extern constinit const Operator kAvgPool2dBackward = {
    .name = "AvgPool2dBackward",
    .summary = "Gradient of AvgPool2d.",
    .description =
        "grad_input = for each element the sum of grad_output / divisor over the windows that it "
        "is in, in the order of the windows. The divisors are AvgPool2d's. Of self only the shape "
        "counts. Sums are float64.",
    .inputs = kPlaneGradientInputs,
    .attributes = kAvgPoolAttributes,
    .outputs = kPlaneGradientOutputs,
    .support = kPlaneSupport,
    .infer = InferAvgPoolBackward,
    .operations = AvgPoolBackwardOperations,
};

}  // namespace opserve::avg_pool2d
