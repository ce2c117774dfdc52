// SoftMarginLoss and SoftMarginLossBackward: schema.
#include "core/ops/loss_schema.h"

namespace opserve::soft_margin_loss {

extern constinit const Operator kSoftMarginLoss =
    Loss({.name = "SoftMarginLoss",
          .summary = "Logistic loss of self against a target of -1 or 1.",
          .description = "loss = log(1 + exp(-target * self))\n"
                         "reduction none gives the loss of each element, mean their mean, sum "
                         "their sum. An empty tensor has mean NaN and sum 0.",
          .gradient = {.op = "SoftMarginLossBackward",
                       .inputs = kTakesPredictionAndTruth,
                       .outputs = kGivesGradientOfPrediction}});

extern constinit const Operator kSoftMarginLossBackward =
    LossGradient({.name = "SoftMarginLossBackward",
                  .summary = "Gradient of SoftMarginLoss with respect to self.",
                  .description = "out = -target * sigmoid(-target * self) * (grad_output * k)\n"
                                 "k = 1/n for reduction mean, n the number of elements of the "
                                 "result; k = 1 for none and sum."});

}  // namespace opserve::soft_margin_loss
