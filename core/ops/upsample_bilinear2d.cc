// UpsampleBilinear2d and UpsampleBilinear2dBackward: schema.
#include "core/ops/upsample_schema.h"

namespace opserve::upsample_bilinear2d {
namespace {

constexpr AttributeParam kAlignCorners = {
    .name = "align_corners",
    .summary = "whether the centers of the corners, not their outer edges, lie on each other",
    .kind = AttributeKind::kBool,
    .default_value = AttributeDefault::Bool(false)};
constexpr AttributeParam kBilinearAttributes[] = {kUpsampleOutputSize, kAlignCorners,
                                                  kUpsampleScaleH, kUpsampleScaleW};
constexpr AttributeParam kBilinearBackwardAttributes[] = {
    kUpsampleOutputSize, kUpsampleInputSize, kAlignCorners, kUpsampleScaleH, kUpsampleScaleW};
constexpr TensorParam kBilinearGradientOutputs[] = {
    {"out", "gradient of the forward's input", "input_size", kFloatDTypes}};

int64_t BilinearOperations(const OpCall& call) {
  return SaturatingProduct({4, call.output(0).desc.num_elements()});
}
int64_t BilinearBackwardOperations(const OpCall& call) {
  return SaturatingProduct({4, call.input(0).num_elements()});
}

}  // namespace

// No gradient is named: its input_size is a shape, which a gradient's attributes cannot be.
extern constinit const Operator kUpsampleBilinear2d = {
    .name = "UpsampleBilinear2d",
    .summary = "Resamples planes: each output lies between two rows and two columns.",
    .description =
        "out[h][w] = (1 - b) * ((1 - a) * self[y][x] + a * self[y][x + 1]) + b * ((1 - a) * self[y "
        "+ 1][x] + a * self[y + 1][x + 1]), x + a being the place of w: with align_corners w * (W "
        "- 1) / (W_out - 1), else max((w + 0.5) * r - 0.5, 0), r = W / W_out, or 1 / scales_w "
        "where that is positive; y + b likewise.\n"
        "There is nothing beyond the last row and column: a place there is theirs. An extent that "
        "stays as it is keeps its places. Computed in float64, where PyTorch has float32; an "
        "infinity at the border stays one, where PyTorch's 0 * inf makes NaN of it.\n"
        "Its gradient is UpsampleBilinear2dBackward with self's shape as input_size.",
    .inputs = kUpsampleInputs,
    .attributes = kBilinearAttributes,
    .outputs = kUpsampleOutputs,
    .support = kPlaneSupport,
    .infer = InferUpsample,
    .operations = BilinearOperations,
};

extern constinit const Operator kUpsampleBilinear2dBackward = {
    .name = "UpsampleBilinear2dBackward",
    .summary = "Gradient of UpsampleBilinear2d.",
    .description =
        "out = for each element the sum of grad_out times its part in the output, over all outputs "
        "that it is in, in their order. Places and parts are UpsampleBilinear2d's. Sums are "
        "float64.",
    .inputs = kUpsampleGradientInputs,
    .attributes = kBilinearBackwardAttributes,
    .outputs = kBilinearGradientOutputs,
    .support = kPlaneSupport,
    .infer = InferUpsampleBackward,
    .operations = BilinearBackwardOperations,
};

}  // namespace opserve::upsample_bilinear2d
