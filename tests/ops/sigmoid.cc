// The tests' Sigmoid and SigmoidBackward.
#include <cmath>

#include "tests/support/gradient_values.h"
#include "tests/support/operator_test.h"

namespace opserve::testing {
namespace {

double Logistic(const std::vector<double>& in) { return 1 / (1 + std::exp(-in[0])); }

double LogisticGradient(const std::vector<double>& in) { return in[0] * (1 - in[1]) * in[1]; }

}  // namespace

extern const OperatorTest kSigmoidTest = {
    .reference = [](const OpCase& op_case) { return MapReference(op_case, Logistic); },
    .ulps = 3,
    .aten = "sigmoid(self)",
};

extern const OperatorTest kSigmoidBackwardTest = {
    .reference = [](const OpCase& op_case) { return MapReference(op_case, LogisticGradient); },
    .ulps = 3,
    .aten = "sigmoid_backward(grad_output, output)",
    // The forward's third derivative is at most 1/8; the output that the gradient takes is rounded.
    .gradient = {.problem = [](Rng& rng,
                               int) { return ElementwiseProblem("Sigmoid", {}, {}, rng); },
                 .tolerance = 1e-6,
                 .step = 0x1p-6,
                 .truncation = 0x1p-15},
};

}  // namespace opserve::testing
