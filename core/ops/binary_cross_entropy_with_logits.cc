// BinaryCrossEntropyWithLogits and its gradients: schema.
#include "core/ops/loss_schema.h"

namespace opserve::binary_cross_entropy_with_logits {
namespace {

constexpr TensorParam kWeight = {"weight", "factor of the loss of each element; 1 when not given",
                                 kBroadcastShape, kFloatDTypes, Presence::kOptional};
constexpr TensorParam kPosWeight = {"pos_weight",
                                    "factor of what a positive target adds; 1 when not given",
                                    kBroadcastShape, kFloatDTypes, Presence::kOptional};
constexpr TensorParam kLogits = {"self", "the logits", kBroadcastShape, kFloatDTypes};
constexpr TensorParam kInputs[] = {kLogits, kTruth, kWeight, kPosWeight};
constexpr TensorParam kBackwardInputs[] = {kLossGradient, kLogits, kTruth, kWeight, kPosWeight};
constexpr TensorParam kTargetGradient[] = {
    {"grad_target", "gradient of target", kBroadcastResult, kFloatDTypes}};
constexpr GradientInput kTakes[] = {kTakesPredictionAndTruth[0],
                                    kTakesPredictionAndTruth[1],
                                    kTakesPredictionAndTruth[2],
                                    {"weight", GradientInput::Source::kInput, "weight"},
                                    {"pos_weight", GradientInput::Source::kInput, "pos_weight"}};

}  // namespace

extern constinit const Operator kBinaryCrossEntropyWithLogits = Loss(
    {.name = "BinaryCrossEntropyWithLogits",
     .summary = "Cross entropy of the sigmoid of self against a target in [0, 1].",
     .description = "loss = weight * ((1 - target) * self + (pos_weight * target + 1 - target) * "
                    "log(1 + exp(-self)))\n"
                    "reduction none gives the loss of each element, mean their mean, sum "
                    "their sum. An empty tensor has mean NaN and sum 0.",
     .inputs = kInputs,
     .gradient = {.op = "BinaryCrossEntropyWithLogitsBackward",
                  .inputs = kTakes,
                  .outputs = kGivesGradientOfPrediction}});

extern constinit const Operator kBinaryCrossEntropyWithLogitsBackward =
    LossGradient({.name = "BinaryCrossEntropyWithLogitsBackward",
                  .summary = "Gradient of BinaryCrossEntropyWithLogits with respect to self.",
                  .description = "out = ((pos_weight * target + 1 - target) * sigmoid(self) - "
                                 "pos_weight * target) * weight * (grad_output * k)\n"
                                 "k = 1/n for reduction mean, n the number of elements of the "
                                 "result; k = 1 for none and sum.",
                  .inputs = kBackwardInputs});

extern constinit const Operator kBinaryCrossEntropyWithLogitsTargetBackward =
    LossGradient({.name = "BinaryCrossEntropyWithLogitsTargetBackward",
                  .summary = "Gradient of BinaryCrossEntropyWithLogits with respect to target.",
                  .description = "grad_target = ((pos_weight - 1) * log(1 + exp(-self)) - self) * "
                                 "weight * (grad_output * k)\n"
                                 "k = 1/n for reduction mean, n the number of elements of the "
                                 "result; k = 1 for none and sum.\n"
                                 "target itself decides nothing but the shape.",
                  .inputs = kBackwardInputs,
                  .outputs = kTargetGradient});

}  // namespace opserve::binary_cross_entropy_with_logits
