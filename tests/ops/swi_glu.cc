// The tests' SwiGlu and SwiGluGrad.
#include "tests/ops/activation_calls.h"
#include "tests/ops/gate_calls.h"

namespace opserve::testing::swi_glu {
namespace {

const std::vector<std::vector<AttributeValue>> kDims = {{int64_t{-1}}};
const std::vector<LabelledAttributes> kMeasured = {{"", {int64_t{-1}}}};

double Sigmoid(double x) { return Decayed(Logistic(x), x); }

}  // namespace

extern const OperatorTest kSwiGluTest = {
    .reference =
        [](const OpCase& c) {
          return std::vector{HalfReference(c, [](const std::vector<double>& in) {
            return std::vector{in[1], in[0] * Sigmoid(in[0])};
          })};
        },
    .cases = GateCases,
    .accuracy_cases = GateAccuracyCases,
    .long_calls = GateLongCalls,
    .attributes = kDims,
    .measured = kMeasured,
    .ulps = 6,
};

extern const OperatorTest kSwiGluGradTest = {
    .reference =
        [](const OpCase& c) {
          return std::vector{WholeReference(
              c,
              [](const std::vector<double>& in) {
                const double s = Sigmoid(in[1]);
                return std::vector{in[0] * in[2], s, in[1] * s * Sigmoid(-in[1])};
              },
              [](const std::vector<double>& in) {
                return std::vector{in[0], in[1] * Sigmoid(in[1])};
              })};
        },
    .cases = GateCases,
    .accuracy_cases = GateAccuracyCases,
    .long_calls = GateLongCalls,
    .attributes = kDims,
    .measured = kMeasured,
    .ulps = 6,
    .gradient = SmoothGate(
        [](Rng& rng, int turn) { return GateProblem("SwiGlu", {AttributeValue()}, rng, turn); }),
};

}  // namespace opserve::testing::swi_glu
