// The tests' MseLoss and MseLossBackward.
#include <cmath>

#include "absl/random/distributions.h"
#include "tests/ops/activation_calls.h"
#include "tests/ops/loss_calls.h"

namespace opserve::testing::mse_loss {
namespace {

double Any(Rng& rng) { return absl::Gaussian<double>(rng); }

const std::vector<std::vector<AttributeValue>> kAttributes = {
    {int64_t{0}}, {int64_t{1}}, {int64_t{2}}, {AttributeValue()}};

}  // namespace

extern const OperatorTest kMseLossTest = {
    .reference =
        [](const OpCase& c) {
          return ReducedReference(c, [](const std::vector<double>& in) -> std::vector<double> {
            return {(in[0] - in[1]) * (in[0] - in[1])};
          });
        },
    .cases = LossCases,
    .long_calls = LossLongCalls,
    .attributes = kAttributes,
    .measured = Reductions({}),
    .ulps = 3,
    .aten = "mse_loss(self, target, reduction)",
};

extern const OperatorTest kMseLossBackwardTest = {
    .reference =
        [](const OpCase& c) {
          return LossGradientReference(c, [](const std::vector<double>& in) -> std::vector<double> {
            return {2 * (in[1] - in[2])};
          });
        },
    .cases = LossCases,
    .long_calls = LossLongCalls,
    .attributes = kAttributes,
    .measured = Reductions({}),
    .ulps = 3,
    .aten = "mse_loss_backward(grad_output, self, target, reduction)",
    .gradient = Smooth(
        [](Rng& rng, int turn) { return DrawnLossProblem("MseLoss", {}, Any, Any, rng, turn); }),
};

}  // namespace opserve::testing::mse_loss
