// The tests' UpsampleBilinear2d and UpsampleBilinear2dBackward.
#include <algorithm>
#include <cmath>

#include "tests/ops/plane_calls.h"

namespace opserve::testing::upsample_bilinear2d {
namespace {

using Ints = std::vector<int64_t>;

PlaneSetting Resample(Dims shape, Ints size, bool align_corners = false, double scale_h = 0,
                      double scale_w = 0) {
  return {std::move(shape), {std::move(size), align_corners, scale_h, scale_w}};
}

std::vector<PlaneSetting> Settings() {
  return {Resample({2, 3, 7, 9}, {5, 13}),
          Resample({1, 2, 4, 4}, {8, 8}, true),
          Resample({2, 2, 5, 6}, {5, 6}),
          Resample({1, 1, 1, 1}, {3, 2}, true),
          Resample({1, 2, 3, 5}, {1, 1}, true),
          Resample({1, 2, 6, 5}, {9, 8}, false, 1.4, 1.7),
          Resample({1, 2, 6, 5}, {9, 8}, true, 1.4, 1.7),
          Resample({0, 3, 4, 4}, {2, 2}),
          Resample({1, 2, 3, 700}, {4, 2500}),
          Resample({1, 1, 2, 9000}, {3, 1100}),
          Resample({1, 1, 2, 9000}, {3, 2}, true),
          Resample({3, 1, 9, 2}, {1, 3000}, true),
          Resample({40, 5, 6, 3}, {12, 7}),
          Resample({1, 2, 3, 4}, {5, 6}, false, 1e-300, 1e300)};
}

std::vector<PlaneSetting> Measured() {
  return {Resample({2, 2, 8, 8}, {12, 10}), Resample({1, 3, 7, 9}, {15, 5}, true),
          Resample({1, 2, 8, 8}, {12, 16}, false, 1.5, 2.0), Resample({4, 8, 28, 28}, {56, 56})};
}

std::vector<PlaneSetting> Long() {
  constexpr int64_t kHuge = int64_t{1} << 37;
  std::vector<PlaneSetting> settings = {
      Resample({kHuge, 4, 3, 3}, {4, 5}), Resample({1, 1, kHuge, 8}, {kHuge / 3, 3}),
      Resample({2, 1, 2, kHuge}, {3, kHuge - 1}, true), Resample({1, 1, 2, 2}, {3, kHuge}),
      Resample({kHuge, 1, 2, 9000}, {1, 2})};
  const std::string_view labels[] = {"planes", "rows", "columns", "outputs_of_an_element",
                                     "long_steps"};
  for (size_t i = 0; i < settings.size(); ++i) settings[i].label = labels[i];
  return settings;
}

PlaneMatrix Between(int64_t in, int64_t out, double factor, bool align_corners) {
  PlaneMatrix axis;
  for (int64_t i = 0; i < out; ++i) {
    const auto at = static_cast<double>(i);
    const double step =
        factor > 0 ? 1 / factor : static_cast<double>(in) / static_cast<double>(out);
    double place = std::max(0.0, (at + 0.5) * step - 0.5);
    if (align_corners)
      place = out == 1 ? 0 : at * (static_cast<double>(in - 1) / static_cast<double>(out - 1));
    if (in == out) place = at;
    place = std::min(place, static_cast<double>(in - 1));
    const double first = std::floor(place);
    const auto index = static_cast<int64_t>(first);
    std::vector<PlaneTerm>& terms = axis.emplace_back();
    terms.push_back({index, 1 - (place - first)});
    if (index + 1 < in && in != out) terms.push_back({index + 1, place - first});
  }
  return axis;
}

// Attributes align_corners, scales_h and scales_w from `at` on.
PlaneMatrix AxisOf(const OpCase& c, int64_t in, size_t axis, size_t at) {
  return Between(in, AxisOfList(c.attributes[0], axis),
                 std::get<double>(c.attributes[at + 1 + axis]), std::get<bool>(c.attributes[at]));
}

std::vector<Reference> Value(const OpCase& c) {
  const TestTensor& self = *c.inputs[0];
  const int64_t height = ExtentFromBack(self, 1);
  const int64_t width = ExtentFromBack(self, 0);
  return PlaneSumsReference(self, AxisOf(c, height, 0, 1), AxisOf(c, width, 1, 1), height, width);
}

std::vector<Reference> GradientValue(const OpCase& c) {
  const auto& size = std::get<Ints>(c.attributes[1]);
  return PlaneGradientsReference(*c.inputs[0], AxisOf(c, size[2], 0, 2), AxisOf(c, size[3], 1, 2),
                                 size[2], size[3]);
}

std::vector<OpCase> Cases(const Operator& op, Rng& rng) {
  return PlaneCases(op, "UpsampleBilinear2d", Settings(), rng);
}
std::vector<OpCase> AccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  return PlaneAccuracyCases(op, "UpsampleBilinear2d", Measured(), dtype, rng);
}
std::vector<LongCall> LongCalls(const Operator& op) {
  return PlaneLongCalls(op, "UpsampleBilinear2d", Long());
}

}  // namespace

extern const OperatorTest kUpsampleBilinear2dTest = {
    .reference = Value,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .ulps = 1,
};

extern const OperatorTest kUpsampleBilinear2dBackwardTest = {
    .reference = GradientValue,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .ulps = 1,
    .gradient = {.problem =
                     [](Rng& rng, int turn) {
                       return PlaneProblem("UpsampleBilinear2dBackward", "UpsampleBilinear2d",
                                           Settings()[static_cast<size_t>(turn % 7)], rng);
                     },
                 .tolerance = 1e-6},
};

}  // namespace opserve::testing::upsample_bilinear2d
