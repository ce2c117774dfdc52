// The tests' SoftMarginLoss and SoftMarginLossBackward.
#include <cmath>

#include "absl/random/distributions.h"
#include "tests/ops/activation_calls.h"
#include "tests/ops/loss_calls.h"

namespace opserve::testing::soft_margin_loss {
namespace {

double Any(Rng& rng) { return absl::Gaussian<double>(rng); }

const std::vector<std::vector<AttributeValue>> kAttributes = {
    {int64_t{0}}, {int64_t{1}}, {int64_t{2}}, {AttributeValue()}};

}  // namespace

extern const OperatorTest kSoftMarginLossTest = {
    .reference =
        [](const OpCase& c) {
          return ReducedReference(c, [](const std::vector<double>& in) -> std::vector<double> {
            return {std::fmax(-in[0] * in[1], 0.0) +
                    std::log1p(std::exp(-std::fabs(in[0] * in[1])))};
          });
        },
    .cases = LossCases,
    .long_calls = LossLongCalls,
    .attributes = kAttributes,
    .measured = Reductions({}),
    .ulps = 5,
    .aten = "soft_margin_loss(self, target, reduction)",
};

extern const OperatorTest kSoftMarginLossBackwardTest = {
    .reference =
        [](const OpCase& c) {
          return LossGradientReference(c, [](const std::vector<double>& in) -> std::vector<double> {
            return {-in[2] * Logistic(-in[1] * in[2])};
          });
        },
    .cases = LossCases,
    .long_calls = LossLongCalls,
    .attributes = kAttributes,
    .measured = Reductions({}),
    .ulps = 5,
    .aten = "soft_margin_loss_backward(grad_output, self, target, reduction)",
    .gradient = Smooth([](Rng& rng, int turn) {
      return DrawnLossProblem("SoftMarginLoss", {}, Any, Any, rng, turn);
    }),
};

}  // namespace opserve::testing::soft_margin_loss
