// The tests' ReflectionPad1d and ReflectionPad2d, and their gradients.
#include <algorithm>

#include "tests/ops/pad_calls.h"

namespace opserve::testing::reflection_pad {
namespace {

using Ints = std::vector<int64_t>;

int64_t Place(int64_t place, int64_t extent) {
  if (place < 0) return -place;
  return place < extent ? place : 2 * (extent - 1) - place;
}

std::vector<PlaneSetting> Settings(const Operator& op) {
  if (PadTests::IsOfRows(op)) {
    return {{{2, 3, 9}, {Ints{3, 8}}},   {{4, 5}, {Ints{0, 0}}},
            {{3, 7}, {Ints{-2, 6}}},     {{1, 2, 1}, {Ints{0, 0}}},
            {{0, 3, 4}, {Ints{1, 1}}},   {{2, 1500}, {Ints{1499, 1200}}},
            {{3, 6}, {Ints{5, -5}}},     {{1, 2, 5000}, {Ints{2, -3000}}},
            {{300, 2, 7}, {Ints{6, 6}}}, {{5, 4}, {Ints{-5, 3}}},
            {{2, 2, 12}, {Ints{4, 7}}},  {{7, 13}, {Ints{12, 1}}},
            {{1, 9}, {Ints{-8, 4}}},     {{2, 30}, {Ints{29, 29}}}};
  }
  return {{{2, 3, 7, 9}, {Ints{3, 8, 6, 1}}},        {{3, 4, 5}, {Ints{0, 0, 0, 0}}},
          {{2, 5, 6}, {Ints{-2, 5, 4, -3}}},         {{1, 1, 1, 1}, {Ints{0, 0, 0, 0}}},
          {{0, 3, 4, 4}, {Ints{1, 1, 1, 1}}},        {{2, 3, 1500}, {Ints{1499, 1200, 1, 2}}},
          {{40, 5, 6, 3}, {Ints{2, 2, 5, 5}}},       {{1, 2, 900, 4}, {Ints{1, 0, 899, -500}}},
          {{1, 1, 2, 5000}, {Ints{2, -3000, 1, 0}}}, {{2, 4, 4}, {Ints{3, 0, 0, 3}}},
          {{1, 3, 6, 5}, {Ints{1, 1, 1, 1}}},        {{2, 8, 3}, {Ints{2, 1, -4, 7}}},
          {{1, 2, 3, 3}, {Ints{2, 2, 2, 2}}},        {{3, 2, 7}, {Ints{-3, -3, 1, 0}}}};
}

std::vector<Reference> Value(const OpCase& c) { return PadTests::ReferenceOf(c, Place); }
std::vector<OpCase> Cases(const Operator& op, Rng& rng) {
  return PadTests::Cases(op, Settings(op), rng);
}

GradientProblem RowProblem(Rng& rng, int turn) {
  static constexpr std::string_view kBackward = "ReflectionPad1dBackward";
  const std::vector<PlaneSetting> settings = {{{3, 6}, {Ints{5, 2}}}, {{2, 2, 7}, {Ints{-1, 4}}}};
  return PlaneProblem(kBackward, "ReflectionPad1d", settings[static_cast<size_t>(turn % 2)], rng);
}
GradientProblem PlaneOfProblem(Rng& rng, int turn) {
  static constexpr std::string_view kBackward = "ReflectionPad2dBackward";
  const std::vector<PlaneSetting> settings = {{{2, 4, 5}, {Ints{4, 2, 3, 1}}},
                                              {{1, 2, 4, 3}, {Ints{-1, 2, 2, -2}}}};
  return PlaneProblem(kBackward, "ReflectionPad2d", settings[static_cast<size_t>(turn % 2)], rng);
}

}  // namespace

extern const OperatorTest kReflectionPad1dTest = {
    .reference = Value,
    .cases = Cases,
    .accuracy_cases = PadTests::AccuracyCases,
    .long_calls = PadTests::LongCalls,
    .ulps = 0.51,
    .aten = "reflection_pad1d(self, padding)",
};

extern const OperatorTest kReflectionPad1dBackwardTest = {
    .reference = Value,
    .cases = Cases,
    .accuracy_cases = PadTests::AccuracyCases,
    .long_calls = PadTests::LongCalls,
    .ulps = 1,
    .aten = "reflection_pad1d_backward(grad_output, self, padding)",
    .gradient = {.problem = RowProblem, .tolerance = 1e-6},
};

extern const OperatorTest kReflectionPad2dTest = {
    .reference = Value,
    .cases = Cases,
    .accuracy_cases = PadTests::AccuracyCases,
    .long_calls = PadTests::LongCalls,
    .ulps = 0.51,
    .aten = "reflection_pad2d(self, padding)",
};

extern const OperatorTest kReflectionPad2dBackwardTest = {
    .reference = Value,
    .cases = Cases,
    .accuracy_cases = PadTests::AccuracyCases,
    .long_calls = PadTests::LongCalls,
    .ulps = 1,
    .aten = "reflection_pad2d_backward(grad_output, self, padding)",
    .gradient = {.problem = PlaneOfProblem, .tolerance = 1e-6},
};

}  // namespace opserve::testing::reflection_pad
