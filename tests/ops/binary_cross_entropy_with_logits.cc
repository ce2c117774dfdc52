// The tests' BinaryCrossEntropyWithLogits, BinaryCrossEntropyWithLogitsBackward and
// BinaryCrossEntropyWithLogitsTargetBackward.
#include <cmath>

#include "absl/random/distributions.h"
#include "tests/ops/activation_calls.h"
#include "tests/ops/loss_calls.h"

namespace opserve::testing::binary_cross_entropy_with_logits {
namespace {

double Probability(Rng& rng) { return absl::Uniform(rng, 0.0, 1.0); }
double Any(Rng& rng) { return absl::Gaussian<double>(rng); }

double Softplus(double x) { return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

const std::vector<std::vector<AttributeValue>> kAttributes = {
    {int64_t{0}}, {int64_t{1}}, {int64_t{2}}, {AttributeValue()}};

}  // namespace

extern const OperatorTest kBinaryCrossEntropyWithLogitsTest = {
    .reference =
        [](const OpCase& c) {
          return ReducedReference(c, [](const std::vector<double>& in) -> std::vector<double> {
            return {in[2] * (1 - in[1]) * in[0], in[2] * in[3] * in[1] * Softplus(-in[0]),
                    in[2] * Softplus(-in[0]), -in[2] * in[1] * Softplus(-in[0])};
          });
        },
    .cases = LossCases,
    .long_calls = LossLongCalls,
    .attributes = kAttributes,
    .measured = Reductions({}),
    .ulps = 5,
    .aten = "binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction)",
};

extern const OperatorTest kBinaryCrossEntropyWithLogitsBackwardTest = {
    .reference =
        [](const OpCase& c) {
          return LossGradientReference(c, [](const std::vector<double>& in) -> std::vector<double> {
            return {in[4] * in[2] * Logistic(in[1]) * in[3], Logistic(in[1]) * in[3],
                    -in[2] * Logistic(in[1]) * in[3], -in[4] * in[2] * in[3]};
          });
        },
    .cases = LossCases,
    .long_calls = LossLongCalls,
    .attributes = kAttributes,
    .measured = Reductions({}),
    .ulps = 6,
    .gradient = Smooth([](Rng& rng, int turn) {
      return DrawnLossProblem("BinaryCrossEntropyWithLogits", {}, Any, Probability, rng, turn);
    }),
};

extern const OperatorTest kBinaryCrossEntropyWithLogitsTargetBackwardTest = {
    .reference =
        [](const OpCase& c) {
          return LossGradientReference(c, [](const std::vector<double>& in) -> std::vector<double> {
            return {in[4] * Softplus(-in[1]) * in[3], -Softplus(-in[1]) * in[3], -in[1] * in[3]};
          });
        },
    .cases = LossCases,
    .long_calls = LossLongCalls,
    .attributes = kAttributes,
    .measured = Reductions({}),
    .ulps = 5,
};

}  // namespace opserve::testing::binary_cross_entropy_with_logits
