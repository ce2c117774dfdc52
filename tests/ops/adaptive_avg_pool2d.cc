// The tests' AdaptiveAvgPool2d and AdaptiveAvgPool2dBackward.
#include "tests/ops/plane_calls.h"

namespace opserve::testing::adaptive_avg_pool2d {
namespace {

using Ints = std::vector<int64_t>;

std::vector<PlaneSetting> Settings() {
  return {{{2, 3, 7, 9}, {Ints{3, 4}}},       {{3, 8, 8}, {Ints{1}}},
          {{1, 2, 5, 6}, {Ints{7, 13}}},      {{2, 5, 6}, {Ints{5, 6}}},
          {{1, 4, 11, 5}, {Ints{4, 3}}},      {{6, 7, 7}, {Ints{2}}},
          {{2, 1, 3, 17}, {Ints{3, 5}}},      {{2, 12, 10}, {Ints{5, 1}}},
          {{1, 1, 1, 1}, {Ints{3, 1}}},       {{0, 3, 4, 4}, {Ints{2}}},
          {{1, 2, 3, 2500}, {Ints{2, 2100}}}, {{1, 1, 2, 9000}, {Ints{2, 3}}},
          {{1, 2, 7, 30}, {Ints{2, 5000}}},   {{40, 5, 56, 3}, {Ints{7, 2}}}};
}

std::vector<PlaneSetting> Measured() {
  return {{{2, 2, 8, 8}, {Ints{3, 3}}},
          {{1, 3, 7, 9}, {Ints{9, 2}}},
          {{2, 6, 8}, {Ints{1, 1}}},
          {{4, 8, 28, 28}, {Ints{7, 7}}},
          {{4, 8, 28, 28}, {Ints{1, 1}}}};
}

std::vector<PlaneSetting> Long() {
  constexpr int64_t kHuge = int64_t{1} << 37;
  return {{{kHuge, 4, 3, 3}, {Ints{2}}, "planes"},
          {{1, kHuge, 8}, {Ints{kHuge / 2, 3}}, "rows"},
          {{2, 2, kHuge}, {Ints{1, kHuge / 3}}, "columns"},
          {{1, kHuge / 64, 4096}, {Ints{1}}, "windows"},
          {{4, 1, kHuge}, {Ints{1, 2}}, "long_windows"},
          {{1, 1, 2}, {Ints{kHuge / 64, 4096}}, "outputs_of_an_element"}};
}

PlaneMatrix Shares(int64_t in, int64_t out) {
  PlaneMatrix shares;
  for (int64_t i = 0; i < out; ++i) {
    const int64_t begin = i * in / out;
    const int64_t end = ((i + 1) * in + out - 1) / out;
    std::vector<PlaneTerm>& terms = shares.emplace_back();
    for (int64_t k = begin; k < end; ++k)
      terms.push_back({k, 1 / static_cast<double>(end - begin)});
  }
  return shares;
}

std::vector<Reference> Value(const OpCase& c) {
  const TestTensor& self = *c.inputs[0];
  const int64_t height = ExtentFromBack(self, 1);
  const int64_t width = ExtentFromBack(self, 0);
  return PlaneSumsReference(self, Shares(height, AxisOfList(c.attributes[0], 0)),
                            Shares(width, AxisOfList(c.attributes[0], 1)), height, width);
}

std::vector<Reference> GradientValue(const OpCase& c) {
  const TestTensor& gradient = *c.inputs[0];
  const int64_t height = ExtentFromBack(*c.inputs[1], 1);
  const int64_t width = ExtentFromBack(*c.inputs[1], 0);
  return PlaneGradientsReference(gradient, Shares(height, ExtentFromBack(gradient, 1)),
                                 Shares(width, ExtentFromBack(gradient, 0)), height, width);
}

std::vector<OpCase> Cases(const Operator& op, Rng& rng) {
  return PlaneCases(op, "AdaptiveAvgPool2d", Settings(), rng);
}
std::vector<OpCase> AccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  return PlaneAccuracyCases(op, "AdaptiveAvgPool2d", Measured(), dtype, rng);
}
std::vector<LongCall> LongCalls(const Operator& op) {
  return PlaneLongCalls(op, "AdaptiveAvgPool2d", Long());
}

}  // namespace

extern const OperatorTest kAdaptiveAvgPool2dTest = {
    .reference = Value,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .ulps = 1,
    .aten = "_adaptive_avg_pool2d(self, output_size)",
};

extern const OperatorTest kAdaptiveAvgPool2dBackwardTest = {
    .reference = GradientValue,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .ulps = 1,
    .aten = "_adaptive_avg_pool2d_backward(grad_output, self)",
    .gradient = {.problem =
                     [](Rng& rng, int turn) {
                       return PlaneProblem("AdaptiveAvgPool2dBackward", "AdaptiveAvgPool2d",
                                           Settings()[static_cast<size_t>(turn % 5)], rng);
                     },
                 .tolerance = 1e-6},
};

}  // namespace opserve::testing::adaptive_avg_pool2d
