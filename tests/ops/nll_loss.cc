// The tests' NLLLoss, NLLLoss2d and their gradients.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "core/op/op_table.h"
#include "tests/ops/class_calls.h"
#include "tests/support/calls.h"
#include "tests/support/gradient_values.h"
#include "tests/support/operator_test.h"

namespace opserve::testing::nll_loss {
namespace {

constexpr int64_t kIgnoredByDefault = -100;

struct NllSetting {
  DType labels = DType::kInt64;
  bool weighted = false;
  int64_t reduction = 1;
  int64_t ignored = kIgnoredByDefault;
};

Dims SamplesOf(Dims shape) {
  shape.erase(shape.begin() + (shape.size() == 1 ? 0 : 1));
  return shape;
}

// One element may have any shape.
Dims GradientShape(const Dims& samples, int64_t reduction) {
  return reduction == 0 || NumElements(samples) == 1 ? samples : Dims();
}

bool IsGradient(const Operator& op) { return op.inputs.size() == 5; }

OpCase NllCase(const Operator& op, const Dims& shape, DType dtype, const NllSetting& setting,
               Rng& rng) {
  const int64_t classes = shape[shape.size() == 1 ? 0 : 1];
  const Dims samples = SamplesOf(shape);
  OpCase op_case;
  op_case.op = &op;
  op_case.label =
      absl::StrCat(ShapeToString(shape), "/", std::string(DTypeShortName(dtype)), "/",
                   std::string(DTypeShortName(setting.labels)), "/reduction", setting.reduction,
                   setting.weighted ? "/weighted" : "", "/ignored", setting.ignored);
  op_case.attributes = {setting.reduction, setting.ignored};
  if (IsGradient(op))
    op_case.inputs.emplace_back(
        TestTensor::Random(dtype, GradientShape(samples, setting.reduction), rng));
  op_case.inputs.emplace_back(TestTensor::Random(dtype, shape, rng, 2));
  op_case.inputs.emplace_back(Classes(setting.labels, samples, classes, setting.ignored, rng));
  op_case.inputs.emplace_back(std::nullopt);
  if (setting.weighted) op_case.inputs.back() = TestTensor::Random(dtype, {classes}, rng);
  if (IsGradient(op)) op_case.inputs.emplace_back(TestTensor::Full(dtype, {}, 3));
  return op_case;
}

std::vector<OpCase> NllCases(const Operator& op, Rng& rng) {
  const std::vector<Dims> flat = {{1},    {7},      {1, 1},     {5, 3},
                                  {0, 4}, {40, 33}, {5000, 10}, {70000, 2}};
  const std::vector<Dims> images = {{1, 1, 1, 1}, {2, 3, 4, 5},    {2, 5, 3, 3},
                                    {1, 4, 2, 7}, {3, 2, 5, 1},    {0, 3, 2, 2},
                                    {2, 3, 0, 2}, {3, 20, 37, 61}, {1, 2, 300, 200}};
  const NllSetting settings[] = {{.reduction = 1},
                                 {.labels = DType::kInt32, .weighted = true, .reduction = 0},
                                 {.labels = DType::kUint8, .reduction = 2, .ignored = 0},
                                 {.weighted = true, .reduction = 1, .ignored = 1},
                                 {.reduction = 0}};
  std::vector<OpCase> cases;
  size_t turn = 0;
  for (const Dims& shape : op.name.find("2d") == std::string_view::npos ? flat : images) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
      for (int i = 0; i < 2; ++i)
        cases.push_back(NllCase(op, shape, dtype, settings[turn++ % std::size(settings)], rng));
    }
  }
  return cases;
}

std::vector<OpCase> NllAccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  std::vector<OpCase> cases;
  const bool images = op.name.find("2d") != std::string_view::npos;
  for (const Dims& shape : images ? std::vector<Dims>{{2, 3, 2, 2}, {4, 20, 64, 64}}
                                  : std::vector<Dims>{{6, 4}, {20000, 10}}) {
    for (const int64_t reduction : {0, 1, 2}) {
      cases.push_back(NllCase(op, shape, dtype, {.weighted = true, .reduction = reduction}, rng));
      cases.back().label = absl::StrCat("reduction ", reduction);
      // Positive, so that the mean of their sum is one.
      TestTensor& weight = *cases.back().inputs[IsGradient(op) ? 3 : 2];
      for (int64_t i = 0; i < weight.count(); ++i) weight.Set(i, 0.5 + std::fabs(weight.At(i)));
    }
  }
  return cases;
}

std::vector<LongCall> NllLongCalls(const Operator& op) {
  constexpr int64_t kHuge = int64_t{1} << 36;
  std::vector<LongCall> calls;
  const auto add = [&](std::string_view label, const Dims& shape, int64_t reduction) {
    std::vector<TensorDesc> inputs;
    const Dims samples = SamplesOf(shape);
    if (IsGradient(op))
      inputs.push_back(Repeated(DType::kFloat32, reduction == 0 ? samples : Dims()));
    inputs.push_back(Repeated(DType::kFloat32, shape));
    inputs.push_back(Repeated(DType::kInt64, samples));
    inputs.push_back(Repeated(DType::kFloat32, {shape[1]}));
    if (IsGradient(op)) inputs.push_back(Repeated(DType::kFloat32, {}));
    calls.push_back(Planned(std::string(label), Draft(op.name, inputs, {reduction})));
  };
  if (op.name.find("2d") != std::string_view::npos) {
    add("images", {kHuge, 2, 3, 3}, 1);
    add("pixels", {2, 3, kHuge, 2}, 0);
  } else {
    add("samples", {kHuge, 4}, 0);
    add("mean_of_samples", {kHuge, 4}, 1);
  }
  if (IsGradient(op) && op.name.find("2d") == std::string_view::npos) add("classes", {4, kHuge}, 1);
  return calls;
}

// Each sample's class, its weight and where the class is in self.
struct NllSample {
  int64_t of_class;
  double weight;
  size_t at;
};

std::vector<NllSample> SamplesOf(const OpCase& c, size_t self) {
  const Dims& shape = c.inputs[self]->desc().shape;
  const size_t dim = shape.size() == 1 ? 0 : 1;
  const int64_t step = DenseStrides(shape)[dim];
  const std::optional<TestTensor>& weight = c.inputs[self + 2];
  std::vector<NllSample> samples;
  for (int64_t i = 0; i < c.inputs[self + 1]->count(); ++i) {
    const auto of_class = static_cast<int64_t>(c.inputs[self + 1]->At(i));
    if (of_class == std::get<int64_t>(c.attributes[1])) {
      samples.push_back({-1, 0, 0});
      continue;
    }
    const int64_t at = i / step * step * shape[dim] + i % step + of_class * step;
    samples.push_back(
        {of_class, weight.has_value() ? weight->At(of_class) : 1.0, static_cast<size_t>(at)});
  }
  return samples;
}

std::vector<Reference> NllReference(const OpCase& c) {
  const auto reduction = std::get<int64_t>(c.attributes[0]);
  const std::vector<double> self = c.inputs[0]->Values();
  Reference out;
  double loss = 0, magnitude = 0, weight = 0, weight_magnitude = 0;
  for (const NllSample& sample : SamplesOf(c, 0)) {
    const double term = sample.of_class < 0 ? 0 : -sample.weight * self[sample.at];
    out.values.push_back(term);
    out.magnitudes.push_back(std::fabs(term));
    loss += term;
    magnitude += std::fabs(term);
    weight += sample.weight;
    weight_magnitude += std::fabs(sample.weight);
  }
  if (reduction == 0) return {out, {{0}, {0}}};
  const double by = reduction == 1 ? weight : 1;
  // What the sum of the weights cancels, the mean is off by.
  const double shaky = reduction == 1 ? weight_magnitude / std::fabs(weight) : 1;
  return {{{loss / by}, {magnitude / std::fabs(by) * shaky}}, {{weight}, {weight_magnitude}}};
}

std::vector<Reference> NllGradientReference(const OpCase& c) {
  const auto reduction = std::get<int64_t>(c.attributes[0]);
  const std::vector<double> incoming = c.inputs[0]->Values();
  const double by = reduction == 1 ? c.inputs[4]->At(0) : 1;
  Reference out;
  out.values.resize(static_cast<size_t>(c.inputs[1]->count()));
  size_t i = 0;
  for (const NllSample& sample : SamplesOf(c, 1)) {
    const double gradient = incoming[reduction == 0 ? i : 0];
    if (sample.of_class >= 0) out.values[sample.at] = -sample.weight * gradient / by;
    ++i;
  }
  for (const double value : out.values) out.magnitudes.push_back(std::fabs(value));
  return {out};
}

GradientProblem NllProblem(std::string_view forward, const Dims& shape, Rng& rng, int turn) {
  const Operator& op = **FindOperator(forward);
  const OpCase drawn =
      NllCase(op, shape, DType::kFloat32, {.weighted = turn % 2 == 0, .reduction = turn % 3}, rng);
  GradientProblem problem;
  problem.variables = {drawn.inputs[0]->Values()};
  const TestTensor grad = Normal(turn % 3 == 0 ? SamplesOf(shape) : Dims(), rng);
  problem.weights = grad.Values();
  problem.forward = [=](size_t, const std::vector<double>& values, DType dtype) {
    OpCase c = drawn;
    c.inputs[0] = TestTensor::Of(dtype, shape, values);
    if (c.inputs[2].has_value()) c.inputs[2] = As(dtype, *c.inputs[2]);
    return c;
  };
  const double total = NllReference(drawn)[1].values[0];
  std::vector<std::optional<TestTensor>> inputs = drawn.inputs;
  inputs.insert(inputs.begin(), grad);
  inputs.emplace_back(TestTensor::Full(DType::kFloat32, {}, total));
  problem.backward = CallOf(op.gradient.op, std::move(inputs), drawn.attributes);
  return problem;
}

}  // namespace

extern const OperatorTest kNLLLossTest = {
    .reference = NllReference,
    .cases = NllCases,
    .accuracy_cases = NllAccuracyCases,
    .long_calls = NllLongCalls,
    .ulps = 3,
    .aten = "nll_loss_forward(self, target, weight, reduction, ignore_index)",
};

extern const OperatorTest kNLLLossBackwardTest = {
    .reference = NllGradientReference,
    .cases = NllCases,
    .accuracy_cases = NllAccuracyCases,
    .long_calls = NllLongCalls,
    .ulps = 3,
    .aten =
        "nll_loss_backward(grad_output, self, target, weight, reduction, ignore_index, "
        "total_weight)",
    .gradient = {.problem =
                     [](Rng& rng, int turn) {
                       return NllProblem("NLLLoss", {9, 5}, rng, turn);
                     },
                 .tolerance = 2e-6},
};

extern const OperatorTest kNLLLoss2dTest = {
    .reference = NllReference,
    .cases = NllCases,
    .accuracy_cases = NllAccuracyCases,
    .long_calls = NllLongCalls,
    .ulps = 3,
    .aten = "nll_loss2d_forward(self, target, weight, reduction, ignore_index)",
};

extern const OperatorTest kNLLLoss2dBackwardTest = {
    .reference = NllGradientReference,
    .cases = NllCases,
    .accuracy_cases = NllAccuracyCases,
    .long_calls = NllLongCalls,
    .ulps = 3,
    .aten =
        "nll_loss2d_backward(grad_output, self, target, weight, reduction, ignore_index, "
        "total_weight)",
    .gradient = {.problem =
                     [](Rng& rng, int turn) {
                       return NllProblem("NLLLoss2d", {2, 4, 3, 2}, rng, turn);
                     },
                 .tolerance = 2e-6},
};

}  // namespace opserve::testing::nll_loss
