// The tests' KlDiv and KlDivBackward.
#include <cmath>

#include "absl/random/distributions.h"
#include "tests/ops/activation_calls.h"
#include "tests/ops/loss_calls.h"

namespace opserve::testing::kl_div {
namespace {

// A logarithm of a probability, and a probability that may be 0.
double LogProbability(Rng& rng) { return std::log(absl::Uniform(rng, 0.01, 1.0)); }
double Probability(Rng& rng) { return rng() % 8 == 0 ? 0 : absl::Uniform(rng, 0.0, 1.0); }
double PositiveProbability(Rng& rng) { return absl::Uniform(rng, 0.1, 1.0); }

bool IsLogTarget(const OpCase& c) {
  const bool* given = std::get_if<bool>(&c.attributes[1]);
  return given != nullptr && *given;
}

std::vector<Reference> Divergence(const OpCase& c) {
  const bool is_log = IsLogTarget(c);
  return ReducedReference(c, [is_log](const std::vector<double>& in) -> std::vector<double> {
    if (is_log) return {std::exp(in[1]) * in[1], -std::exp(in[1]) * in[0]};
    return {in[1] == 0 ? 0 : in[1] * std::log(in[1]), -in[1] * in[0]};
  });
}

std::vector<Reference> DivergenceGradient(const OpCase& c) {
  const bool is_log = IsLogTarget(c);
  return LossGradientReference(c, [is_log](const std::vector<double>& in) -> std::vector<double> {
    return {is_log ? -std::exp(in[2]) : -in[2]};
  });
}

std::vector<std::vector<AttributeValue>> EveryAttribute() {
  std::vector<std::vector<AttributeValue>> lists;
  for (int64_t reduction = 0; reduction <= 3; ++reduction) {
    for (const bool log_target : {false, true}) lists.push_back({reduction, log_target});
  }
  lists.push_back({AttributeValue(), AttributeValue()});
  return lists;
}

std::vector<OpCase> Cases(const Operator& op, Rng& rng) {
  return WithValues(LossCases(op, rng), LogProbability, Probability, rng);
}

std::vector<OpCase> AccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  return WithValues(ElementwiseAccuracyCases(op, dtype, rng), LogProbability, Probability, rng);
}

}  // namespace

extern const OperatorTest kKlDivTest = {
    .reference = Divergence,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LossLongCalls,
    .attributes = EveryAttribute(),
    .measured = Reductions({false}),
    .ulps = 4,
    .aten = "kl_div(self, target, reduction, log_target=log_target)",
};

extern const OperatorTest kKlDivBackwardTest = {
    .reference = DivergenceGradient,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LossLongCalls,
    .attributes = EveryAttribute(),
    .measured = Reductions({false}),
    .ulps = 4,
    .gradient = Straight([](Rng& rng, int turn) {
      return DrawnLossProblem("KlDiv", {turn % 2 == 1}, LogProbability, PositiveProbability, rng,
                              turn);
    }),
};

}  // namespace opserve::testing::kl_div
