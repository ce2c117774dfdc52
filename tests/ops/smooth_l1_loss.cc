// The tests' SmoothL1Loss and SmoothL1LossBackward.
#include <limits>

#include "tests/ops/loss_calls.h"

namespace opserve::testing::smooth_l1_loss {
namespace {

std::vector<std::vector<AttributeValue>> EveryAttribute() {
  std::vector<std::vector<AttributeValue>> lists;
  for (int64_t reduction = 0; reduction <= 2; ++reduction) {
    for (const double beta : {0.0, 0.7, std::numeric_limits<double>::infinity()})
      lists.push_back({reduction, beta});
  }
  return lists;
}

}  // namespace

extern const OperatorTest kSmoothL1LossTest = {
    .reference = LossReference,
    .long_calls = LossLongCalls,
    .attributes = EveryAttribute(),
    .measured = Reductions({0.7}),
    .ulps = 3,
    .aten = "smooth_l1_loss(self, target, reduction, beta)",
};

extern const OperatorTest kSmoothL1LossBackwardTest = {
    .reference = LossBackwardReference,
    .long_calls = LossLongCalls,
    .attributes = EveryAttribute(),
    .measured = Reductions({0.7}),
    .ulps = 3,
    .aten = "smooth_l1_loss_backward(grad_out, self, target, reduction, beta)",
    // Between its bends the forward is a parabola at most: differences are exact but for rounding.
    .gradient = {.problem = [](Rng& rng,
                               int turn) { return LossProblem(LossKind::kSmoothL1, rng, turn); },
                 .tolerance = 1e-6},
};

}  // namespace opserve::testing::smooth_l1_loss
