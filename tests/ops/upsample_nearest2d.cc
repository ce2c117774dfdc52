// The tests' UpsampleNearest2d and UpsampleNearest2dBackward.
#include <algorithm>
#include <cmath>

#include "tests/ops/plane_calls.h"

namespace opserve::testing::upsample_nearest2d {
namespace {

using Ints = std::vector<int64_t>;

std::vector<PlaneSetting> Settings() {
  return {{{2, 3, 7, 9}, {Ints{5, 13}}},      {{1, 2, 4, 4}, {Ints{8, 8}}},
          {{2, 2, 5, 6}, {Ints{5, 6}}},       {{1, 1, 1, 1}, {Ints{3, 2}}},
          {{0, 3, 4, 4}, {Ints{2, 2}}},       {{1, 2, 3, 700}, {Ints{4, 2500}}},
          {{1, 1, 2, 9000}, {Ints{3, 1100}}}, {{3, 1, 9, 2}, {Ints{1, 3000}}},
          {{40, 5, 6, 3}, {Ints{12, 7}}},     {{1, 2, 9, 9}, {Ints{2, 3}}},
          {{1, 3, 8, 5}, {Ints{16, 10}}},     {{2, 1, 3, 11}, {Ints{7, 4}}},
          {{2, 1, 3, 41}, {Ints{6, 82}}},     {{1, 1, 2, 1500}, {Ints{2, 3000}}}};
}

std::vector<PlaneSetting> Measured() {
  return {{{2, 2, 8, 8}, {Ints{12, 10}}},
          {{1, 3, 7, 9}, {Ints{14, 5}}},
          {{4, 8, 28, 28}, {Ints{56, 56}}}};
}

std::vector<PlaneSetting> Long() {
  constexpr int64_t kHuge = int64_t{1} << 38;
  return {{{kHuge, 4, 3, 3}, {Ints{4, 5}}, "planes"},
          {{1, 1, kHuge, 8}, {Ints{kHuge / 3, 3}}, "rows"},
          {{2, 1, 2, kHuge}, {Ints{3, kHuge - 1}}, "columns"},
          {{1, 1, 2, 2}, {Ints{3, kHuge}}, "outputs_of_an_element"}};
}

// In float32, as PyTorch has it.
PlaneMatrix Nearest(int64_t in, int64_t out, double factor) {
  const float step = factor > 0 ? static_cast<float>(1 / factor)
                                : static_cast<float>(in) / static_cast<float>(out);
  PlaneMatrix axis;
  for (int64_t i = 0; i < out; ++i) {
    auto place = static_cast<int64_t>(std::floor(static_cast<float>(i) * step));
    if (in == out) place = i;
    if (out == 2 * in) place = i / 2;
    axis.push_back({{std::min(place, in - 1), 1}});
  }
  return axis;
}

double FactorOf(const OpCase& c, size_t attribute) {
  const auto* factor = std::get_if<double>(&c.attributes[attribute]);
  return factor == nullptr ? 0 : *factor;
}

std::vector<Reference> Value(const OpCase& c) {
  const TestTensor& self = *c.inputs[0];
  const int64_t height = ExtentFromBack(self, 1);
  const int64_t width = ExtentFromBack(self, 0);
  return PlaneSumsReference(self, Nearest(height, AxisOfList(c.attributes[0], 0), 0),
                            Nearest(width, AxisOfList(c.attributes[0], 1), 0), height, width);
}

std::vector<Reference> GradientValue(const OpCase& c) {
  const auto& size = std::get<Ints>(c.attributes[1]);
  return PlaneGradientsReference(
      *c.inputs[0], Nearest(size[2], AxisOfList(c.attributes[0], 0), FactorOf(c, 2)),
      Nearest(size[3], AxisOfList(c.attributes[0], 1), FactorOf(c, 3)), size[2], size[3]);
}

std::vector<OpCase> Cases(const Operator& op, Rng& rng) {
  std::vector<OpCase> cases = PlaneCases(op, "UpsampleNearest2d", Settings(), rng);
  for (size_t i = 0; i < cases.size() && op.attributes.size() > 1; ++i) {
    if (i % 4 == 3) cases[i].attributes[2] = 1.7;
    if (i % 5 == 4) cases[i].attributes[3] = i % 2 == 0 ? 0.6 : 1e300;
  }
  return cases;
}
std::vector<OpCase> AccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  return PlaneAccuracyCases(op, "UpsampleNearest2d", Measured(), dtype, rng);
}
std::vector<LongCall> LongCalls(const Operator& op) {
  return PlaneLongCalls(op, "UpsampleNearest2d", Long());
}

}  // namespace

extern const OperatorTest kUpsampleNearest2dTest = {
    .reference = Value,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .ulps = 0.51,
    .aten = "upsample_nearest2d(self, output_size)",
};

extern const OperatorTest kUpsampleNearest2dBackwardTest = {
    .reference = GradientValue,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .ulps = 1,
    .gradient = {.problem =
                     [](Rng& rng, int turn) {
                       return PlaneProblem("UpsampleNearest2dBackward", "UpsampleNearest2d",
                                           Settings()[static_cast<size_t>(turn % 4)], rng);
                     },
                 .tolerance = 1e-6},
};

}  // namespace opserve::testing::upsample_nearest2d
