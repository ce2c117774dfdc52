#include "tests/ops/plane_calls.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "core/op/op_table.h"
#include "gtest/gtest.h"
#include "tests/support/calls.h"
#include "tests/support/gradient_values.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

constexpr int64_t kManyElements = 400;

Dims OutputShape(std::string_view forward, const PlaneSetting& setting) {
  OpCall call =
      Draft(forward, {TensorDesc::Dense(DType::kFloat32, setting.shape)}, setting.attributes);
  // Planes may be too large for the default dtype of indices.
  if (call.outputs.size() > 1) call.outputs[1].requested_dtype = DType::kInt64;
  EXPECT_THAT(PlanCall(call), IsOk());
  return call.output(0).desc.shape;
}

std::vector<AttributeValue> BackwardAttributes(const Operator& backward, const Operator& forward,
                                               const PlaneSetting& setting) {
  std::vector<AttributeValue> values;
  for (const AttributeParam& param : backward.attributes) {
    const int at = forward.FindAttribute(param.name);
    if (at >= 0) {
      values.push_back(setting.attributes[static_cast<size_t>(at)]);
    } else if (param.name == "input_size") {
      values.emplace_back(std::vector<int64_t>(setting.shape.begin(), setting.shape.end()));
    } else {
      values.push_back(param.default_value.ToValue());
    }
  }
  return values;
}

OpCase BackwardCase(const Operator& op, std::string_view forward, const PlaneSetting& setting,
                    const TestTensor& self, const TestTensor& gradient) {
  const Operator& forward_op = **FindOperator(forward);
  OpCase result;
  result.op = &op;
  for (const TensorParam& input : op.inputs) {
    if (input.name == "self") {
      result.inputs.emplace_back(self);
    } else if (input.name == "indices") {
      const OpCase call = CallOf(forward, {self}, setting.attributes);
      result.inputs.emplace_back(
          TestTensor::Of(DType::kInt32, gradient.desc().shape, ReferenceOf(call)[1].values));
    } else {
      result.inputs.emplace_back(gradient);
    }
  }
  result.attributes = BackwardAttributes(op, forward_op, setting);
  return result;
}

TestTensor SomeElements(DType dtype, const Dims& shape, bool of_all_magnitudes, Rng& rng) {
  return of_all_magnitudes ? TestTensor::OfAllMagnitudes(dtype, shape, rng)
                           : TestTensor::Random(dtype, shape, rng);
}

OpCase CaseOf(const Operator& op, std::string_view forward, const PlaneSetting& setting,
              DType dtype, bool of_all_magnitudes, Rng& rng) {
  const TestTensor self = SomeElements(dtype, setting.shape, of_all_magnitudes, rng);
  if (op.name == forward) {
    OpCase result;
    result.op = &op;
    result.inputs = {self};
    result.attributes = setting.attributes;
    return result;
  }
  return BackwardCase(op, forward, setting, self,
                      SomeElements(dtype, OutputShape(forward, setting), of_all_magnitudes, rng));
}

int64_t PlanesOf(const TestTensor& tensor, size_t height, size_t width) {
  return height * width == 0 ? 0 : tensor.count() / static_cast<int64_t>(height * width);
}

struct PlaneReference {
  Reference reference;
  void Add(int64_t at, double term) {
    reference.values[static_cast<size_t>(at)] += term;
    reference.magnitudes[static_cast<size_t>(at)] += std::fabs(term);
  }
  explicit PlaneReference(int64_t count) {
    reference.values.assign(static_cast<size_t>(count), 0);
    reference.magnitudes.assign(static_cast<size_t>(count), 0);
  }
};

// visit(output, input, weight) of every term of a plane.
template <typename Visit>
void ForEachTerm(const PlaneMatrix& rows, const PlaneMatrix& columns, int64_t width,
                 const Visit& visit) {
  int64_t output = 0;
  for (const auto& row : rows) {
    for (const auto& column : columns) {
      for (const PlaneTerm& r : row) {
        for (const PlaneTerm& c : column)
          visit(output, r.input * width + c.input, r.weight * c.weight);
      }
      ++output;
    }
  }
}

}  // namespace

PlaneMatrix SingleRow() { return {{{0, 1}}}; }

int64_t ExtentFromBack(const TestTensor& tensor, size_t back) {
  const Dims& shape = tensor.desc().shape;
  return shape[shape.size() - 1 - back];
}

int64_t AxisOfList(const AttributeValue& list, size_t axis) {
  const auto& ints = std::get<std::vector<int64_t>>(list);
  return ints.size() == 1 ? ints[0] : ints[axis];
}

std::vector<Reference> PlaneSumsReference(const TestTensor& input, const PlaneMatrix& rows,
                                          const PlaneMatrix& columns, int64_t height,
                                          int64_t width) {
  const int64_t planes = PlanesOf(input, static_cast<size_t>(height), static_cast<size_t>(width));
  const auto outputs = static_cast<int64_t>(rows.size() * columns.size());
  PlaneReference result(planes * outputs);
  for (int64_t plane = 0; plane < planes; ++plane) {
    ForEachTerm(rows, columns, width, [&](int64_t to, int64_t from, double weight) {
      result.Add(plane * outputs + to, weight * input.At(plane * height * width + from));
    });
  }
  return {result.reference};
}

std::vector<Reference> PlaneGradientsReference(const TestTensor& gradient, const PlaneMatrix& rows,
                                               const PlaneMatrix& columns, int64_t height,
                                               int64_t width) {
  const int64_t planes = PlanesOf(gradient, rows.size(), columns.size());
  const auto outputs = static_cast<int64_t>(rows.size() * columns.size());
  PlaneReference result(planes * height * width);
  for (int64_t plane = 0; plane < planes; ++plane) {
    ForEachTerm(rows, columns, width, [&](int64_t to, int64_t from, double weight) {
      result.Add(plane * height * width + from, weight * gradient.At(plane * outputs + to));
    });
  }
  return {result.reference};
}

std::vector<OpCase> PlaneCases(const Operator& op, std::string_view forward,
                               const std::vector<PlaneSetting>& settings, Rng& rng) {
  std::vector<OpCase> cases;
  int turn = 0;
  for (const PlaneSetting& setting : settings) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
      // A few large elements and no NaN would say little about derivatives.
      const bool is_large = NumElements(setting.shape).value_or(0) >= kManyElements;
      const bool of_all = ++turn % 4 == 0 && (dtype != DType::kFloat32 || is_large);
      cases.push_back(CaseOf(op, forward, setting, dtype, of_all, rng));
      cases.back().label = absl::StrCat(ShapeToString(setting.shape), "/",
                                        std::string(DTypeShortName(dtype)), "/", turn);
    }
  }
  return cases;
}

std::vector<OpCase> PlaneAccuracyCases(const Operator& op, std::string_view forward,
                                       const std::vector<PlaneSetting>& settings, DType dtype,
                                       Rng& rng) {
  std::vector<OpCase> cases;
  for (const PlaneSetting& setting : settings)
    cases.push_back(CaseOf(op, forward, setting, dtype, false, rng));
  return cases;
}

std::vector<LongCall> PlaneLongCalls(const Operator& op, std::string_view forward,
                                     const std::vector<PlaneSetting>& settings) {
  std::vector<LongCall> calls;
  for (const PlaneSetting& setting : settings) {
    std::vector<TensorDesc> inputs = {Repeated(DType::kFloat32, setting.shape)};
    std::vector<AttributeValue> attributes = setting.attributes;
    if (op.name != forward) {
      const Dims out = OutputShape(forward, setting);
      attributes = BackwardAttributes(op, **FindOperator(forward), setting);
      inputs.clear();
      for (const TensorParam& input : op.inputs) {
        inputs.push_back(Repeated(input.name == "indices" ? DType::kInt64 : DType::kFloat32,
                                  input.name == "self" ? setting.shape : out));
      }
    }
    OpCall call = Draft(op.name, inputs, attributes);
    if (call.outputs.size() > 1) call.outputs[1].requested_dtype = DType::kInt64;
    calls.push_back(Planned(std::string(setting.label), std::move(call)));
  }
  return calls;
}

GradientProblem PlaneProblem(std::string_view backward, std::string_view forward,
                             const PlaneSetting& setting, Rng& rng) {
  std::vector<double> self(static_cast<size_t>(*NumElements(setting.shape)));
  for (size_t i = 0; i < self.size(); ++i)
    self[i] = 0.25 * (static_cast<double>(i) - static_cast<double>(self.size()) / 2);
  std::shuffle(self.begin(), self.end(), rng);
  const TestTensor gradient = Normal(OutputShape(forward, setting), rng);
  GradientProblem problem;
  problem.variables = {self};
  problem.weights = gradient.Values();
  problem.forward = [=](size_t, const std::vector<double>& values, DType dtype) {
    return CallOf(forward, {TestTensor::Of(dtype, setting.shape, values)}, setting.attributes);
  };
  problem.backward = BackwardCase(**FindOperator(backward), forward, setting,
                                  TestTensor::Of(DType::kFloat32, setting.shape, self), gradient);
  return problem;
}

}  // namespace opserve::testing
