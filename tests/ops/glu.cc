// The tests' Glu and GluBackward.
#include "tests/ops/activation_calls.h"
#include "tests/ops/gate_calls.h"

namespace opserve::testing::glu {
namespace {

const std::vector<std::vector<AttributeValue>> kDims = {{int64_t{-1}}};
const std::vector<LabelledAttributes> kMeasured = {{"", {int64_t{-1}}}};

double Sigmoid(double x) { return Decayed(Logistic(x), x); }

}  // namespace

extern const OperatorTest kGluTest = {
    .reference =
        [](const OpCase& c) {
          return std::vector{HalfReference(c, [](const std::vector<double>& in) {
            return std::vector{in[0], Sigmoid(in[1])};
          })};
        },
    .cases = GateCases,
    .accuracy_cases = GateAccuracyCases,
    .long_calls = GateLongCalls,
    .attributes = kDims,
    .measured = kMeasured,
    .ulps = 5,
    .aten = "glu(self, dim)",
};

extern const OperatorTest kGluBackwardTest = {
    .reference =
        [](const OpCase& c) {
          return std::vector{WholeReference(
              c,
              [](const std::vector<double>& in) {
                return std::vector{in[0], Sigmoid(in[2])};
              },
              [](const std::vector<double>& in) {
                return std::vector{in[0] * in[1], Sigmoid(in[2]) * Sigmoid(-in[2])};
              })};
        },
    .cases = GateCases,
    .accuracy_cases = GateAccuracyCases,
    .long_calls = GateLongCalls,
    .attributes = kDims,
    .measured = kMeasured,
    .ulps = 6,
    .aten = "glu_backward(grad_out, self, dim)",
    .gradient = SmoothGate(
        [](Rng& rng, int turn) { return GateProblem("Glu", {AttributeValue()}, rng, turn); }),
};

}  // namespace opserve::testing::glu
