// UpsampleNearest2d and UpsampleNearest2dBackward: schema.
#include "core/ops/upsample_schema.h"

namespace opserve::upsample_nearest2d {
namespace {

constexpr AttributeParam kNearestAttributes[] = {kUpsampleOutputSize};
constexpr AttributeParam kNearestBackwardAttributes[] = {kUpsampleOutputSize, kUpsampleInputSize,
                                                         kUpsampleScaleH, kUpsampleScaleW};
constexpr TensorParam kNearestGradientOutputs[] = {
    {"grad_input", "gradient of the forward's input", "input_size", kFloatDTypes}};

}  // namespace

// No gradient is named: its input_size is a shape, which a gradient's attributes cannot be.
extern constinit const Operator kUpsampleNearest2d = {
    .name = "UpsampleNearest2d",
    .summary = "Resamples planes: each output is the element nearest to it.",
    .description =
        "out[h][w] = self[min(floor(h * H / H_out), H - 1)][min(floor(w * W / W_out), W - 1)], the "
        "ratio and its products taken in float32, as PyTorch has them.\n"
        "Its gradient is UpsampleNearest2dBackward with self's shape as input_size.",
    .inputs = kUpsampleInputs,
    .attributes = kNearestAttributes,
    .outputs = kUpsampleOutputs,
    .support = kPlaneSupport,
    .infer = InferUpsample,
};

extern constinit const Operator kUpsampleNearest2dBackward = {
    .name = "UpsampleNearest2dBackward",
    .summary = "Gradient of UpsampleNearest2d.",
    .description =
        "grad_input = for each element the sum of grad_out over the outputs that it is, in their "
        "order. The places are UpsampleNearest2d's, but with 1 / scales_h and 1 / scales_w for the "
        "ratios where they are positive and the output's extent is neither that of the input nor "
        "twice that, as in PyTorch. Sums are float64.",
    .inputs = kUpsampleGradientInputs,
    .attributes = kNearestBackwardAttributes,
    .outputs = kNearestGradientOutputs,
    .support = kPlaneSupport,
    .infer = InferUpsampleBackward,
};

}  // namespace opserve::upsample_nearest2d
