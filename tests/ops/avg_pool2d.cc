// The tests' AvgPool2d and AvgPool2dBackward.
#include <algorithm>

#include "tests/ops/plane_calls.h"

namespace opserve::testing::avg_pool2d {
namespace {

using Ints = std::vector<int64_t>;

PlaneSetting Pool(Dims shape, Ints kernel, Ints stride, Ints padding, bool ceil_mode = false,
                  bool count_padding = true, int64_t divisor = 0) {
  return {std::move(shape),
          {std::move(kernel), std::move(stride), std::move(padding), ceil_mode, count_padding,
           divisor, int64_t{0}}};
}

std::vector<PlaneSetting> Settings() {
  return {
      Pool({2, 3, 7, 9}, {3, 2}, {2, 1}, {1, 0}),
      Pool({3, 8, 8}, {2}, {}, {0}),
      Pool({1, 2, 9, 9}, {3}, {1}, {1}, false, false),
      Pool({2, 2, 8, 11}, {3, 4}, {2, 3}, {1, 2}, true),
      Pool({2, 2, 8, 11}, {3, 4}, {2, 3}, {1, 2}, true, false),
      Pool({1, 5, 6}, {3, 3}, {2, 2}, {1, 1}, true, true, 7),
      Pool({2, 5, 6}, {2, 3}, {1, 2}, {0, 1}, false, true, -3),
      Pool({1, 1, 1, 1}, {1}, {1}, {0}),
      Pool({0, 3, 4, 4}, {2}, {2}, {0}),
      // Three pieces of a row; windows that are not read at once; a stride beyond what is.
      Pool({1, 2, 3, 2500}, {3, 5}, {1, 1}, {1, 2}),
      Pool({1, 1, 2, 5000}, {2, 4001}, {1, 97}, {1, 2000}),
      Pool({1, 1, 2, 9000}, {1, 2}, {1, 3000}, {0, 0}, true),
      Pool({3, 7, 6000}, {7, 6000}, {1}, {0}),
      Pool({40, 5, 56, 3}, {3}, {2}, {1}),
      // Rows that vectors take, two columns further for each window.
      Pool({1, 2, 6, 70}, {2}, {}, {0}),
      Pool({2, 6, 71}, {3}, {2}, {1}),
      Pool({2, 3, 99}, {1, 6}, {1, 2}, {0, 3}),
      // Short rows, summed some at once, of which a column is in no window, or all are.
      Pool({7, 13, 12}, {2}, {}, {0}),
      Pool({5, 2, 9, 13}, {2}, {}, {0}),
      Pool({3, 40, 7}, {5, 2}, {3, 1}, {2, 1}, true),
      Pool({1, 1, 3, 3}, {1000000}, {1000000}, {500000}, true),
  };
}

std::vector<PlaneSetting> Measured() {
  return {Pool({2, 2, 8, 8}, {3}, {2}, {1}),
          Pool({1, 3, 7, 9}, {2, 3}, {2, 1}, {0, 1}, true, false),
          Pool({2, 6, 8}, {2}, {}, {1}, true, true, 5), Pool({4, 8, 28, 28}, {3}, {1}, {1}),
          Pool({4, 8, 28, 28}, {28}, {}, {0})};
}

std::vector<PlaneSetting> Long() {
  constexpr int64_t kHuge = int64_t{1} << 36;
  constexpr int64_t kWindow = (int64_t{1} << 31) - 1;
  std::vector<PlaneSetting> settings = {
      Pool({kHuge, 4, 3, 3}, {2}, {1}, {0}), Pool({1, kHuge, 8}, {3}, {1}, {1}),
      Pool({2, 2, kHuge}, {2}, {2}, {1}), Pool({1, kHuge, 1 << 20}, {1 << 20}, {1 << 20}, {0}),
      Pool({4, 1, kHuge}, {1, kWindow}, {1}, {0, kWindow / 2})};
  const std::string_view labels[] = {"planes", "rows", "columns", "windows", "long_windows"};
  for (size_t i = 0; i < settings.size(); ++i) settings[i].label = labels[i];
  return settings;
}

// Windows along one axis: the elements of the plane with one divisor.
PlaneMatrix Windows(const OpCase& c, int64_t extent, size_t axis) {
  const int64_t kernel = AxisOfList(c.attributes[0], axis);
  const bool same = std::get<Ints>(c.attributes[1]).empty();
  const int64_t stride = same ? kernel : AxisOfList(c.attributes[1], axis);
  const int64_t padding = AxisOfList(c.attributes[2], axis);
  const int64_t divisor = std::get<int64_t>(c.attributes[5]);
  PlaneMatrix windows;
  for (int64_t begin = -padding;; begin += stride) {
    const bool fits = begin + kernel <= extent + padding;
    const bool begins = std::get<bool>(c.attributes[3]) && begin < extent &&
                        begin - stride + kernel < extent + padding;
    if (!fits && !begins) break;
    const int64_t end = std::min(begin + kernel, extent + padding);
    const int64_t first = std::max<int64_t>(begin, 0);
    const int64_t last = std::min(end, extent);
    const auto of =
        static_cast<double>(std::get<bool>(c.attributes[4]) ? end - begin : last - first);
    const double weight = divisor == 0 ? 1 / of : axis == 0 ? 1 / static_cast<double>(divisor) : 1;
    std::vector<PlaneTerm>& terms = windows.emplace_back();
    for (int64_t i = first; i < last; ++i) terms.push_back({i, weight});
  }
  return windows;
}

std::vector<Reference> Value(const OpCase& c) {
  const TestTensor& self = *c.inputs[0];
  const int64_t height = ExtentFromBack(self, 1);
  const int64_t width = ExtentFromBack(self, 0);
  return PlaneSumsReference(self, Windows(c, height, 0), Windows(c, width, 1), height, width);
}

std::vector<Reference> GradientValue(const OpCase& c) {
  const TestTensor& self = *c.inputs[1];
  const int64_t height = ExtentFromBack(self, 1);
  const int64_t width = ExtentFromBack(self, 0);
  return PlaneGradientsReference(*c.inputs[0], Windows(c, height, 0), Windows(c, width, 1), height,
                                 width);
}

std::vector<OpCase> Cases(const Operator& op, Rng& rng) {
  return PlaneCases(op, "AvgPool2d", Settings(), rng);
}
std::vector<OpCase> AccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  return PlaneAccuracyCases(op, "AvgPool2d", Measured(), dtype, rng);
}
std::vector<LongCall> LongCalls(const Operator& op) {
  return PlaneLongCalls(op, "AvgPool2d", Long());
}

}  // namespace

extern const OperatorTest kAvgPool2dTest = {
    .reference = Value,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .ulps = 1,
};

extern const OperatorTest kAvgPool2dBackwardTest = {
    .reference = GradientValue,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .ulps = 1,
    .gradient = {.problem =
                     [](Rng& rng, int turn) {
                       return PlaneProblem("AvgPool2dBackward", "AvgPool2d",
                                           Settings()[static_cast<size_t>(turn % 7)], rng);
                     },
                 .tolerance = 1e-6},
};

}  // namespace opserve::testing::avg_pool2d
