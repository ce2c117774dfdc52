// What the tests of the operators that pad planes share.
#pragma once

#include <string_view>
#include <vector>

#include "tests/ops/plane_calls.h"

namespace opserve::testing {

// Attribute 0 is left, right, above, below; without the last two of rows.
struct PadTests {
  // The element that stands at a place before, in or behind a row.
  using Place = int64_t (*)(int64_t place, int64_t extent);

  static PlaneMatrix Axis(const OpCase& c, int64_t extent, size_t from_back, Place place) {
    const auto& padding = std::get<std::vector<int64_t>>(c.attributes[0]);
    PlaneMatrix axis;
    for (int64_t i = -padding[2 * from_back]; i < extent + padding[2 * from_back + 1]; ++i)
      axis.push_back({{place(i, extent), 1}});
    return axis;
  }

  // Of the forward or of the gradient.
  static std::vector<Reference> ReferenceOf(const OpCase& c, Place place) {
    const bool of_rows = std::get<std::vector<int64_t>>(c.attributes[0]).size() == 2;
    const TestTensor& self = *c.inputs.back();
    const int64_t width = ExtentFromBack(self, 0);
    const int64_t height = of_rows ? 1 : ExtentFromBack(self, 1);
    const PlaneMatrix rows = of_rows ? SingleRow() : Axis(c, height, 1, place);
    const PlaneMatrix columns = Axis(c, width, 0, place);
    return c.inputs.size() == 1
               ? PlaneSumsReference(self, rows, columns, height, width)
               : PlaneGradientsReference(*c.inputs[0], rows, columns, height, width);
  }

  static std::string_view Forward(const Operator& op) {
    const size_t end = op.name.find("Backward");
    return op.name.substr(0, end);
  }
  static bool IsOfRows(const Operator& op) { return op.name.find("1d") != std::string_view::npos; }

  static std::vector<OpCase> Cases(const Operator& op, const std::vector<PlaneSetting>& settings,
                                   Rng& rng) {
    return PlaneCases(op, Forward(op), settings, rng);
  }

  static std::vector<OpCase> AccuracyCases(const Operator& op, DType dtype, Rng& rng) {
    using Widths = std::vector<int64_t>;
    std::vector<PlaneSetting> settings = {{{1, 2, 8, 8}, {Widths{1, 2, 3, 4}}},
                                          {{2, 7, 9}, {Widths{8, 0, -2, 6}}},
                                          {{4, 8, 28, 28}, {Widths{1, 1, 1, 1}}}};
    if (IsOfRows(op))
      settings = {
          {{2, 4, 16}, {Widths{3, 5}}}, {{3, 9}, {Widths{8, -2}}}, {{16, 400}, {Widths{1, 1}}}};
    return PlaneAccuracyCases(op, Forward(op), settings, dtype, rng);
  }

  static std::vector<LongCall> LongCalls(const Operator& op) {
    using Widths = std::vector<int64_t>;
    constexpr int64_t kHuge = int64_t{1} << 38;
    const std::vector<PlaneSetting> planes = {
        {{kHuge, 4, 3, 3}, {Widths{2, 1, 0, 2}}, "planes"},
        {{1, kHuge, 8}, {Widths{0, 3, kHuge / 2, 1}}, "rows"},
        {{2, 2, kHuge}, {Widths{kHuge / 2, 5, 0, 1}}, "columns"}};
    const std::vector<PlaneSetting> rows = {{{kHuge, 4, 3}, {Widths{2, 1}}, "rows"},
                                            {{2, kHuge}, {Widths{kHuge / 2, 5}}, "columns"}};
    return PlaneLongCalls(op, Forward(op), IsOfRows(op) ? rows : planes);
  }
};

}  // namespace opserve::testing
