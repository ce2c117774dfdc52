// The tests' BinaryCrossEntropy and BinaryCrossEntropyBackward.
#include <cmath>

#include "absl/random/distributions.h"
#include "tests/ops/activation_calls.h"
#include "tests/ops/loss_calls.h"

namespace opserve::testing::binary_cross_entropy {
namespace {

double Probability(Rng& rng) { return absl::Uniform(rng, 0.0, 1.0); }
double Inner(Rng& rng) { return absl::Uniform(rng, 0.2, 0.8); }
// Mostly at the ends of the range.
double AtTheEnds(Rng& rng) {
  const double ends[] = {0, 1, 1e-30, 0x1p-149};
  return rng() % 2 == 0 ? ends[rng() % 4] : Probability(rng);
}

std::vector<OpCase> Cases(const Operator& op, Rng& rng) {
  std::vector<OpCase> cases = WithValues(LossCases(op, rng), Inner, Probability, rng);
  OpCase& ends = cases.emplace_back();
  ends.op = &op;
  ends.label = "ends";
  ends.attributes = {int64_t{0}};
  // More than differences are taken of: there are none beyond the ends.
  for (size_t i = 0; i < op.inputs.size(); ++i)
    ends.inputs.push_back(TestTensor::Random(DType::kFloat32, {6001}, rng));
  cases.back() = WithValues({ends}, AtTheEnds, Probability, rng)[0];
  return cases;
}

double AtLeast(double bound, double x) { return x < bound ? bound : x; }

const std::vector<std::vector<AttributeValue>> kAttributes = {
    {int64_t{0}}, {int64_t{1}}, {int64_t{2}}, {AttributeValue()}};

std::vector<OpCase> AccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  return WithValues(ElementwiseAccuracyCases(op, dtype, rng), Probability, Probability, rng);
}

}  // namespace

extern const OperatorTest kBinaryCrossEntropyTest = {
    .reference =
        [](const OpCase& c) {
          return ReducedReference(c, [](const std::vector<double>& in) -> std::vector<double> {
            return {-in[2] * in[1] * AtLeast(-100, std::log(in[0])),
                    -in[2] * (1 - in[1]) * AtLeast(-100, std::log1p(-in[0]))};
          });
        },
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LossLongCalls,
    .attributes = kAttributes,
    .measured = Reductions({}),
    .ulps = 5,
    .aten = "binary_cross_entropy(self, target, weight, reduction)",
};

extern const OperatorTest kBinaryCrossEntropyBackwardTest = {
    .reference =
        [](const OpCase& c) {
          return LossGradientReference(c, [](const std::vector<double>& in) -> std::vector<double> {
            return {in[1] / AtLeast(1e-12, (1 - in[1]) * in[1]) * in[3],
                    -in[2] / AtLeast(1e-12, (1 - in[1]) * in[1]) * in[3]};
          });
        },
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LossLongCalls,
    .attributes = kAttributes,
    .measured = Reductions({}),
    .ulps = 5,
    .aten = "binary_cross_entropy_backward(grad_output, self, target, weight, reduction)",
    .gradient = Curved([](Rng& rng, int turn) {
      return DrawnLossProblem("BinaryCrossEntropy", {}, Inner, Probability, rng, turn);
    }),
};

}  // namespace opserve::testing::binary_cross_entropy
