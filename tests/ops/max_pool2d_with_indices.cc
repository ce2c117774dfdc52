// The tests' MaxPool2dWithIndices and MaxPool2dWithIndicesBackward.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/ops/plane_calls.h"

namespace opserve::testing::max_pool2d_with_indices {
namespace {

using Ints = std::vector<int64_t>;

PlaneSetting Pool(Dims shape, Ints kernel, Ints stride, Ints padding, Ints dilation = {1},
                  bool ceil_mode = false) {
  return {
      std::move(shape),
      {std::move(kernel), std::move(stride), std::move(padding), std::move(dilation), ceil_mode}};
}

// The first is one that every profile has.
std::vector<PlaneSetting> Settings() {
  return {
      Pool({2, 3, 7, 9}, {3, 2}, {2, 1}, {1, 0}),
      Pool({3, 8, 8}, {2}, {}, {0}),
      Pool({1, 2, 9, 9}, {3}, {1}, {1}, {2}),
      Pool({2, 2, 8, 11}, {3, 4}, {2, 3}, {1, 2}, {1}, true),
      Pool({2, 10, 12}, {3, 2}, {2, 3}, {1, 1}, {2, 3}, true),
      Pool({1, 1, 1, 1}, {1}, {1}, {0}),
      Pool({0, 3, 4, 4}, {2}, {2}, {0}),
      // A window without elements.
      Pool({2, 1, 1}, {2}, {1}, {1}, {2}),
      // Several pieces of a row; windows that are not read at once; strides beyond what is.
      Pool({1, 2, 3, 2500}, {3, 5}, {1, 1}, {1, 2}),
      Pool({1, 1, 2, 5000}, {2, 4001}, {1, 97}, {1, 2000}),
      Pool({1, 1, 2, 9000}, {1, 2}, {1, 3000}, {0, 0}, {1}, true),
      Pool({1, 1, 2, 9000}, {1, 3}, {1, 2}, {0, 1}, {1, 2999}),
      Pool({40, 5, 56, 3}, {3}, {2}, {1}),
      // Rows that vectors take.
      Pool({1, 2, 6, 70}, {2}, {}, {0}),
      Pool({2, 6, 71}, {3}, {2}, {1}),
      Pool({2, 3, 67}, {1, 6}, {1}, {0, 3}),
      Pool({1, 1, 3, 3}, {1000000}, {1000000}, {500000}, {1}, true),
  };
}

std::vector<PlaneSetting> Measured() {
  return {Pool({2, 2, 8, 8}, {3}, {2}, {1}), Pool({1, 3, 7, 9}, {2, 3}, {2, 1}, {0, 1}, {2, 1}),
          Pool({2, 6, 8}, {2}, {}, {1}, {1}, true), Pool({4, 8, 28, 28}, {3}, {1}, {1})};
}

std::vector<PlaneSetting> Long() {
  constexpr int64_t kHuge = int64_t{1} << 36;
  constexpr int64_t kWindow = (int64_t{1} << 31) - 1;
  std::vector<PlaneSetting> settings = {Pool({kHuge, 4, 3, 3}, {2}, {1}, {0}),
                                        Pool({1, kHuge, 8}, {3}, {1}, {1}),
                                        Pool({2, 2, kHuge}, {2}, {2}, {1}),
                                        Pool({1, kHuge, 1 << 20}, {1 << 20}, {1 << 20}, {0}),
                                        Pool({4, 1, kHuge}, {1, kWindow}, {1}, {0, kWindow / 2}),
                                        Pool({1, kHuge, 4}, {kWindow, 1}, {1}, {0}, {32, 1})};
  const std::string_view labels[] = {"planes",  "rows",         "columns",
                                     "windows", "long_windows", "dilated_windows"};
  for (size_t i = 0; i < settings.size(); ++i) settings[i].label = labels[i];
  return settings;
}

struct Axis {
  int64_t extent, kernel, stride, padding, dilation, outputs;
};

Axis AxisOf(const OpCase& c, const TestTensor& self, size_t axis) {
  const int64_t kernel = AxisOfList(c.attributes[0], axis);
  const bool same = std::get<Ints>(c.attributes[1]).empty();
  Axis result = {ExtentFromBack(self, 1 - axis),
                 kernel,
                 same ? kernel : AxisOfList(c.attributes[1], axis),
                 AxisOfList(c.attributes[2], axis),
                 AxisOfList(c.attributes[3], axis),
                 0};
  const double room =
      static_cast<double>(result.extent + 2 * result.padding - result.dilation * (kernel - 1) - 1) /
      static_cast<double>(result.stride);
  const bool ceil_mode = std::get<bool>(c.attributes[4]);
  result.outputs = static_cast<int64_t>(ceil_mode ? std::ceil(room) : std::floor(room)) + 1;
  if (ceil_mode && (result.outputs - 1) * result.stride >= result.extent + result.padding)
    --result.outputs;
  return result;
}

// Elements of a window that lie in the plane.
std::vector<int64_t> Window(const Axis& axis, int64_t output) {
  std::vector<int64_t> places;
  int64_t place = output * axis.stride - axis.padding;
  for (int64_t k = 0; k < axis.kernel && place < axis.extent; ++k, place += axis.dilation) {
    if (place >= 0) places.push_back(place);
  }
  return places;
}

std::vector<Reference> Value(const OpCase& c) {
  const TestTensor& self = *c.inputs[0];
  const Axis rows = AxisOf(c, self, 0);
  const Axis columns = AxisOf(c, self, 1);
  const int64_t area = rows.extent * columns.extent;
  std::vector<double> maxima;
  std::vector<double> indices;
  for (int64_t plane = 0; plane < self.count() / area; ++plane) {
    for (int64_t i = 0; i < rows.outputs * columns.outputs; ++i) {
      double max = -std::numeric_limits<double>::infinity();
      int64_t index = -1;
      for (const int64_t row : Window(rows, i / columns.outputs)) {
        for (const int64_t column : Window(columns, i % columns.outputs)) {
          const int64_t place = row * columns.extent + column;
          const double value = self.At(plane * area + place);
          if (index >= 0 && !(value > max) && !std::isnan(value)) continue;
          max = value;
          index = place;
        }
      }
      maxima.push_back(max);
      indices.push_back(static_cast<double>(index));
    }
  }
  return {ExactReference(maxima)[0], ExactReference(indices)[0]};
}

std::vector<Reference> GradientValue(const OpCase& c) {
  const TestTensor& gradient = *c.inputs[0];
  const TestTensor& self = *c.inputs[1];
  Reference result;
  result.values.assign(static_cast<size_t>(self.count()), 0);
  result.magnitudes = result.values;
  if (self.count() == 0) return {result};
  const int64_t area = ExtentFromBack(self, 1) * ExtentFromBack(self, 0);
  const int64_t outputs = gradient.count() / (self.count() / area);
  for (int64_t i = 0; i < gradient.count(); ++i) {
    const auto index = static_cast<int64_t>(c.inputs[2]->At(i));
    if (index < 0) continue;
    const auto place = static_cast<size_t>(i / outputs * area + index);
    result.values[place] += gradient.At(i);
    result.magnitudes[place] += std::fabs(gradient.At(i));
  }
  return {result};
}

// Windows may share an element: the sum of its gradients, in float32, is not to overflow where
// theirs in float64 does not.
void Bound(TestTensor& gradient) {
  constexpr double kMost = 0x1p120;
  for (int64_t i = 0; i < gradient.count(); ++i) {
    const double value = gradient.At(i);
    if (std::isfinite(value) && std::fabs(value) > kMost)
      gradient.Set(i, std::copysign(kMost, value));
  }
}

std::vector<OpCase> Cases(const Operator& op, Rng& rng) {
  std::vector<OpCase> cases = PlaneCases(op, "MaxPool2dWithIndices", Settings(), rng);
  if (op.inputs.size() > 1) {
    for (OpCase& op_case : cases) Bound(*op_case.inputs[0]);
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    if (i % 5 != 4) continue;
    if (op.inputs.size() == 1) {
      cases[i].output_dtypes = {DType::kUndefined, DType::kInt64};
    } else {
      cases[i].inputs[2] = TestTensor::Of(DType::kInt64, cases[i].inputs[2]->desc().shape,
                                          cases[i].inputs[2]->Values());
    }
  }
  return cases;
}
std::vector<OpCase> AccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  return PlaneAccuracyCases(op, "MaxPool2dWithIndices", Measured(), dtype, rng);
}
std::vector<LongCall> LongCalls(const Operator& op) {
  std::vector<PlaneSetting> settings = Long();
  if (op.inputs.size() > 1) {
    // Of these windows there are too few to take long, but the first has a large plane.
    constexpr int64_t kStride = (int64_t{1} << 31) - 1;
    settings.resize(3);
    settings.push_back(Pool({1, int64_t{1} << 18, int64_t{1} << 18}, {1}, {kStride}, {0}));
    settings.back().label = "elements_without_windows";
  }
  return PlaneLongCalls(op, "MaxPool2dWithIndices", settings);
}
// The check of the indices is soon done.
std::vector<LongCall> LongEnds() {
  constexpr int64_t kStride = (int64_t{1} << 31) - 1;
  PlaneSetting planes = Pool({2, 1 << 12, 1 << 12}, {1}, {kStride}, {0});
  planes.label = "planes_without_windows";
  std::vector<LongCall> calls;
  for (const PlaneSetting& setting : {planes}) {
    OpCall call =
        Draft("MaxPool2dWithIndicesBackward",
              {Repeated(DType::kFloat32, {2, 1, 1}), Repeated(DType::kFloat32, setting.shape),
               Repeated(DType::kInt64, {2, 1, 1})},
              setting.attributes);
    calls.push_back(Planned(std::string(setting.label), std::move(call)));
  }
  return calls;
}

}  // namespace

extern const OperatorTest kMaxPool2dWithIndicesTest = {
    .reference = Value,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .ulps = 0.51,
    .aten = "max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)",
};

extern const OperatorTest kMaxPool2dWithIndicesBackwardTest = {
    .reference = GradientValue,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .long_ends = LongEnds,
    .ulps = 5,
    .aten =
        "max_pool2d_with_indices_backward(grad_output, self, kernel_size, stride, padding, "
        "dilation, ceil_mode, indices)",
    .gradient = {.problem =
                     [](Rng& rng, int turn) {
                       return PlaneProblem("MaxPool2dWithIndicesBackward", "MaxPool2dWithIndices",
                                           Settings()[static_cast<size_t>(turn % 6)], rng);
                     },
                 .tolerance = 1e-6},
};

}  // namespace opserve::testing::max_pool2d_with_indices
