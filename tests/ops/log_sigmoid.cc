// The tests' LogSigmoid, LogSigmoidForward and LogSigmoidBackward.
#include <cmath>

#include "tests/ops/activation_calls.h"

namespace opserve::testing::log_sigmoid {
namespace {

std::vector<Reference> Value(const OpCase& c) {
  return MapReference(c, [](const std::vector<double>& in) {
    return (in[0] < 0 ? in[0] : 0) - std::log1p(std::exp(-std::fabs(in[0])));
  });
}

// The buffer is that of self, or nothing.
std::vector<OpCase> WithBuffers(std::vector<OpCase> cases, Rng& rng) {
  for (size_t i = 0; i < cases.size(); ++i) {
    const TensorDesc self = cases[i].inputs[1]->desc();
    std::optional<TestTensor>& buffer = cases[i].inputs[2];
    if (i % 3 == 0) buffer = TestTensor::Random(self.dtype, {0}, rng);
    if (i % 3 == 1) buffer = TestTensor::Random(self.dtype, self.shape, rng);
    if (i % 3 == 2) buffer.reset();
  }
  return cases;
}

}  // namespace

extern const OperatorTest kLogSigmoidTest = {
    .reference = Value,
    .cases = ActivationCases,
    .ulps = 5,
    .aten = "log_sigmoid(self)",
};

extern const OperatorTest kLogSigmoidForwardTest = {
    .reference =
        [](const OpCase& c) {
          std::vector<Reference> both = Value(c);
          both.push_back(MapReference(
              c, [](const std::vector<double>& in) { return std::exp(-std::fabs(in[0])); })[0]);
          return both;
        },
    .cases = ActivationCases,
    .ulps = 5,
};

extern const OperatorTest kLogSigmoidBackwardTest = {
    .reference =
        [](const OpCase& c) {
          OpCase read = c;
          read.inputs.resize(2);
          return MapReference(
              read, [](const std::vector<double>& in) { return in[0] * Logistic(-in[1]); });
        },
    .cases = [](const Operator& op,
                Rng& rng) { return WithBuffers(ActivationCases(op, rng), rng); },
    .accuracy_cases =
        [](const Operator& op, DType dtype, Rng& rng) {
          return WithBuffers(ElementwiseAccuracyCases(op, dtype, rng), rng);
        },
    .ulps = 5,
    .gradient = Smooth([](Rng& rng, int turn) {
      return ElementwiseProblem(turn % 2 == 0 ? "LogSigmoid" : "LogSigmoidForward", {}, {}, rng);
    }),
};

}  // namespace opserve::testing::log_sigmoid
