// MseLoss and MseLossBackward: schema.
#include "core/ops/loss_schema.h"

namespace opserve::mse_loss {

extern constinit const Operator kMseLoss =
    Loss({.name = "MseLoss",
          .summary = "Mean squared error of self against target.",
          .description = "loss = (self - target)^2\n"
                         "reduction none gives the loss of each element, mean their mean, sum "
                         "their sum. An empty tensor has mean NaN and sum 0.",
          .gradient = {.op = "MseLossBackward",
                       .inputs = kTakesPredictionAndTruth,
                       .outputs = kGivesGradientOfPrediction}});

extern constinit const Operator kMseLossBackward =
    LossGradient({.name = "MseLossBackward",
                  .summary = "Gradient of MseLoss with respect to self.",
                  .description = "out = 2 * (self - target) * (grad_output * k)\n"
                                 "k = 1/n for reduction mean, n the number of elements of the "
                                 "result; k = 1 for none and sum."});

}  // namespace opserve::mse_loss
