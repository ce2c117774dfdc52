// The tests' Elu and EluBackward.
#include <cmath>

#include "tests/ops/activation_calls.h"

namespace opserve::testing::elu {
namespace {

std::vector<Reference> Backward(const OpCase& c) {
  const double alpha = ScalarOf(c, 0);
  const double scale = ScalarOf(c, 1);
  const double input_scale = ScalarOf(c, 2);
  const bool* is_result = std::get_if<bool>(&c.attributes[3]);
  const bool result = is_result != nullptr && *is_result;
  return SumReference(c, [=](const std::vector<double>& in) -> std::vector<double> {
    const double x = in[1];
    if (x > 0) return {in[0] * scale};
    if (!result) return {in[0] * input_scale * alpha * scale * std::exp(input_scale * x)};
    return {in[0] * input_scale * x, in[0] * input_scale * alpha * scale};
  });
}

const std::vector<std::vector<AttributeValue>> kScalars = {
    {1.3, 0.9, 1.1},
    {int64_t{1}, true, 0.5},
    {-0.7, 1.0, 2.0},
    {AttributeValue(), AttributeValue(), AttributeValue()}};
const std::vector<std::vector<AttributeValue>> kBackwardScalars = {
    {1.3, 0.9, 1.1, false}, {1.3, 0.9, 1.1, true}, {-0.7, 1.0, 2.0, false}, {0.0, 1.0, 1.0, true}};

}  // namespace

extern const OperatorTest kEluTest = {
    .reference =
        [](const OpCase& c) {
          const double alpha = ScalarOf(c, 0);
          const double scale = ScalarOf(c, 1);
          const double input_scale = ScalarOf(c, 2);
          return MapReference(c, [=](const std::vector<double>& in) {
            return scale * (in[0] > 0 ? in[0] : alpha * std::expm1(input_scale * in[0]));
          });
        },
    .cases = ActivationCases,
    .attributes = kScalars,
    .measured = {{"", {1.3, 0.9, 1.1}}},
    .ulps = 5,
    .aten = "elu(self, alpha, scale, input_scale)",
};

extern const OperatorTest kEluBackwardTest = {
    .reference = Backward,
    .cases = ActivationCases,
    .attributes = kBackwardScalars,
    .measured = {{"input", {1.3, 0.9, 1.1, false}}, {"result", {1.3, 0.9, 1.1, true}}},
    .ulps = 5,
    .aten = "elu_backward(grad_output, alpha, scale, input_scale, is_result, self_or_result)",
    .gradient = Smooth([](Rng& rng, int) {
      return ElementwiseProblem("Elu", {1.25, 0.75, 1.125}, {0}, rng);
    }),
};

}  // namespace opserve::testing::elu
