// The tests' Mul and Div.
#include "tests/ops/activation_calls.h"

namespace opserve::testing::mul {

extern const OperatorTest kMulTest = {
    .reference =
        [](const OpCase& c) {
          return MapReference(c, [](const std::vector<double>& in) { return in[0] * in[1]; });
        },
    .cases = ActivationCases,
    .ulps = 1,
    .aten = "mul.Tensor(self, other)",
};

extern const OperatorTest kDivTest = {
    .reference =
        [](const OpCase& c) {
          return MapReference(c, [](const std::vector<double>& in) { return in[0] / in[1]; });
        },
    .cases = ActivationCases,
    .ulps = 1,
    .aten = "div.Tensor(self, other)",
};

}  // namespace opserve::testing::mul
