// The tests' Hardtanh and HardtanhBackward.
#include <cmath>

#include "tests/ops/activation_calls.h"

namespace opserve::testing::hardtanh {
namespace {

const std::vector<std::vector<AttributeValue>> kRanges = {
    {-0.5, 0.75}, {int64_t{-1}, int64_t{1}}, {0.1, -0.1}, {AttributeValue(), AttributeValue()}};

}  // namespace

extern const OperatorTest kHardtanhTest = {
    .reference =
        [](const OpCase& c) {
          const double low = ScalarOf(c, 0);
          const double high = ScalarOf(c, 1);
          return MapReference(c, [=](const std::vector<double>& in) {
            return in[0] != in[0] ? in[0] : std::fmin(std::fmax(in[0], low), high);
          });
        },
    .cases = ActivationCases,
    .attributes = kRanges,
    .measured = {{"", {-0.5, 0.75}}},
    .ulps = 0.5,
    .aten = "hardtanh(self, clip_value_min, clip_value_max)",
};

extern const OperatorTest kHardtanhBackwardTest = {
    .reference =
        [](const OpCase& c) {
          const double low = ScalarOf(c, 0);
          const double high = ScalarOf(c, 1);
          return MapReference(c, [=](const std::vector<double>& in) {
            return in[1] <= low || in[1] >= high ? 0 : in[0];
          });
        },
    .cases = ActivationCases,
    .attributes = kRanges,
    .measured = {{"", {-0.5, 0.75}}},
    .ulps = 0.5,
    .aten = "hardtanh_backward(grad_output, self, min, max)",
    .gradient = Straight([](Rng& rng, int) {
      return ElementwiseProblem("Hardtanh", {-0.5, 0.75}, {0.5, 0.75}, rng);
    }),
};

}  // namespace opserve::testing::hardtanh
