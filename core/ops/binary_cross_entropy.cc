// BinaryCrossEntropy and BinaryCrossEntropyBackward: schema.
#include "core/ops/loss_schema.h"

namespace opserve::binary_cross_entropy {
namespace {

constexpr TensorParam kWeight = {"weight", "factor of the loss of each element; 1 when not given",
                                 kBroadcastShape, kFloatDTypes, Presence::kOptional};
constexpr TensorParam kInputs[] = {kPrediction, kTruth, kWeight};
constexpr TensorParam kBackwardInputs[] = {kLossGradient, kPrediction, kTruth, kWeight};
constexpr GradientInput kTakes[] = {kTakesPredictionAndTruth[0],
                                    kTakesPredictionAndTruth[1],
                                    kTakesPredictionAndTruth[2],
                                    {"weight", GradientInput::Source::kInput, "weight"}};

}  // namespace

extern constinit const Operator kBinaryCrossEntropy =
    Loss({.name = "BinaryCrossEntropy",
          .summary = "Cross entropy of a probability against a target in [0, 1].",
          .description = "loss = -weight * (target * log(self) + (1 - target) * log(1 - self))\n"
                         "Each logarithm counts as -100 where it is less. A self outside [0, 1] "
                         "gives NaN, where PyTorch fails.\n"
                         "reduction none gives the loss of each element, mean their mean, sum "
                         "their sum. An empty tensor has mean NaN and sum 0.",
          .inputs = kInputs,
          .gradient = {.op = "BinaryCrossEntropyBackward",
                       .inputs = kTakes,
                       .outputs = kGivesGradientOfPrediction}});

extern constinit const Operator kBinaryCrossEntropyBackward = LossGradient(
    {.name = "BinaryCrossEntropyBackward",
     .summary = "Gradient of BinaryCrossEntropy with respect to self.",
     .description =
         "out = (self - target) / max((1 - self) * self, 1e-12) * weight * (grad_output * k)\n"
         "k = 1/n for reduction mean, n the number of elements of the result; k = 1 for none and "
         "sum.",
     .inputs = kBackwardInputs});

}  // namespace opserve::binary_cross_entropy
