// AdaptiveAvgPool2d and AdaptiveAvgPool2dBackward: schema and inference.
#include "core/ops/plane_schema.h"

namespace opserve::adaptive_avg_pool2d {
namespace {

constexpr AttributeParam kAdaptiveAttributes[] = {
    {.name = "output_size",
     .summary = "height and width of the result, or one for both",
     .kind = AttributeKind::kIntList,
     .range = kNotNegative}};
constexpr GradientOutput kGivesAdaptive[] = {{"out", "self"}};
constexpr TensorParam kAdaptiveGradientInputs[] = {
    {"grad_output", "gradient of the forward's result", "self's, but for H and W", kFloatDTypes},
    kPlaneForwardInput};
constexpr TensorParam kAdaptiveGradientOutputs[] = {
    {"out", "gradient of self", "self's", kFloatDTypes}};

absl::Status InferAdaptivePool(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckPlaneDTypes(call, 1));
  OPSERVE_RETURN_IF_ERROR(CheckPlaneAttributes(call));
  OPSERVE_RETURN_IF_ERROR(CheckPlaneList(call, 0, false));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  OPSERVE_RETURN_IF_ERROR(CheckPlanes(call, 0, 2));
  const auto& size = call.attribute<PlaneInts>(0);
  const int64_t extents[] = {AlongAxis(size, 0), AlongAxis(size, 1)};
  const Dims shape = WithLastExtents(call.input(0).shape, extents);
  OPSERVE_RETURN_IF_ERROR(CheckCountable("output_size", shape));
  return SettleOutput(call, 0, call.input(0).dtype, shape);
}

absl::Status InferAdaptivePoolBackward(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckPlaneDTypes(call, 2));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  OPSERVE_RETURN_IF_ERROR(CheckPlanes(call, 1, 2));
  const Dims& gradient = call.input(0).shape;
  const Dims& self = call.input(1).shape;
  const bool fits =
      gradient.size() == self.size() && std::equal(self.begin(), self.end() - 2, gradient.begin());
  if (!fits) {
    return ShapeMismatch(
        "grad_output",
        absl::StrCat("the shape of self, ", ShapeToString(self), ", but for its last 2 extents"),
        ShapeToString(gradient));
  }
  return SettleOutput(call, 0, call.input(0).dtype, self);
}

// Windows share a plane out, and overlap by an element at most.
int64_t AdaptiveOperations(const TensorDesc& self, const TensorDesc& outputs) {
  int64_t sum = 0;
  return __builtin_add_overflow(self.num_elements(), SaturatingProduct({4, outputs.num_elements()}),
                                &sum)
             ? std::numeric_limits<int64_t>::max()
             : sum;
}

int64_t AdaptivePoolOperations(const OpCall& call) {
  return AdaptiveOperations(call.input(0), call.output(0).desc);
}
int64_t AdaptivePoolBackwardOperations(const OpCall& call) {
  return AdaptiveOperations(call.input(1), call.input(0));
}

}  // namespace

extern constinit const Operator kAdaptiveAvgPool2d = {
    .name = "AdaptiveAvgPool2d",
    .summary = "The means of the windows that share a plane out among an output of any size.",
    .description =
        "out[h][w] = mean of the elements with rows from floor(h * H / H_out) to before ceil((h + "
        "1) * H / H_out) and columns likewise. Sums are float64.",
    .inputs = kPlaneInputs,
    .attributes = kAdaptiveAttributes,
    .outputs = kPlaneOutputs,
    .support = kPlaneSupport,
    .gradient = {.op = "AdaptiveAvgPool2dBackward",
                 .inputs = kTakesPlanes,
                 .outputs = kGivesAdaptive},
    .infer = InferAdaptivePool,
    .operations = AdaptivePoolOperations,
};

extern constinit const Operator kAdaptiveAvgPool2dBackward = {
    .name = "AdaptiveAvgPool2dBackward",
    .summary = "Gradient of AdaptiveAvgPool2d.",
    .description =
        "out = for each element the sum of grad_output / (elements of the window) over the windows "
        "that it is in, in the order of the windows. Of self only the shape counts. A grad_output "
        "without elements gives zeros, where PyTorch refuses it. Sums are float64.",
    .inputs = kAdaptiveGradientInputs,
    .outputs = kAdaptiveGradientOutputs,
    .support = kPlaneSupport,
    .infer = InferAdaptivePoolBackward,
    .operations = AdaptivePoolBackwardOperations,
};

}  // namespace opserve::adaptive_avg_pool2d
