// The tests' CrossEntropyLoss and CrossEntropyLossGrad.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "core/op/op_table.h"
#include "tests/ops/class_calls.h"
#include "tests/support/calls.h"
#include "tests/support/gradient_values.h"
#include "tests/support/operator_test.h"

namespace opserve::testing::cross_entropy_loss {
namespace {

struct EntropySetting {
  int64_t reduction = 1;
  double smoothing = 0;
  bool weighted = false;
  int64_t ignored = -100;
  DType labels = DType::kInt64;
};

bool IsEntropyGrad(const Operator& op) { return op.name == "CrossEntropyLossGrad"; }

// The logarithms that the forward would have given.
TestTensor LogProbs(DType dtype, const Dims& shape, Rng& rng) {
  const OpCase forward =
      CallOf("LogSoftmax", {TestTensor::Random(dtype, shape, rng, 2)}, {int64_t{1}});
  return TestTensor::Of(dtype, shape, ReferenceOf(forward)[0].values);
}

OpCase EntropyCase(const Operator& op, const Dims& shape, DType dtype,
                   const EntropySetting& setting, Rng& rng) {
  OpCase op_case;
  op_case.op = &op;
  op_case.label = absl::StrCat(ShapeToString(shape), "/", std::string(DTypeShortName(dtype)),
                               "/reduction", setting.reduction, "/smoothing", setting.smoothing,
                               setting.weighted ? "/weighted" : "", "/ignored", setting.ignored);
  op_case.attributes = {setting.reduction, setting.ignored, setting.smoothing, 0.0};
  std::optional<TestTensor> weight;
  if (setting.weighted) weight = TestTensor::Random(DType::kFloat32, {shape[1]}, rng);
  const TestTensor target = Classes(setting.labels, {shape[0]}, shape[1], setting.ignored, rng);
  if (IsEntropyGrad(op)) {
    const bool each = setting.reduction == 0 || shape[0] == 1;
    const Dims losses = each ? Dims{shape[0]} : Dims();
    op_case.inputs = {TestTensor::Random(dtype, losses, rng),
                      LogProbs(dtype, shape, rng),
                      target,
                      weight,
                      std::nullopt,
                      std::nullopt};
  } else {
    op_case.inputs = {TestTensor::Random(dtype, shape, rng, 2), target, weight};
    op_case.attributes.emplace_back(false);
  }
  return op_case;
}

std::vector<OpCase> EntropyCases(const Operator& op, Rng& rng) {
  const EntropySetting settings[] = {
      {.reduction = 1},
      {.reduction = 0, .smoothing = 0.125, .weighted = true, .labels = DType::kInt32},
      {.reduction = 2, .smoothing = 1, .ignored = 0, .labels = DType::kUint8},
      {.reduction = 1, .smoothing = 0.25, .weighted = true, .ignored = 1},
      {.reduction = 0, .weighted = true},
      {.reduction = 1, .smoothing = 0.5}};
  const Dims shapes[] = {{1, 1},  {5, 3},   {0, 4},     {7, 4},     {9, 6},
                         {3, 11}, {40, 33}, {600, 100}, {20, 2049}, {3, 40000}};
  std::vector<OpCase> cases;
  size_t turn = 0;
  for (const Dims& shape : shapes) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
      for (int i = 0; i < 2; ++i)
        cases.push_back(EntropyCase(op, shape, dtype, settings[turn++ % std::size(settings)], rng));
    }
  }
  return cases;
}

std::vector<OpCase> EntropyAccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  std::vector<OpCase> cases;
  for (const Dims& shape : {Dims{6, 4}, Dims{2000, 10}, Dims{16, 5000}}) {
    for (const double smoothing : {0.0, 0.125}) {
      cases.push_back(EntropyCase(op, shape, dtype, {.smoothing = smoothing}, rng));
      cases.back().label = absl::StrCat("smoothing ", smoothing);
    }
  }
  return cases;
}

std::vector<LongCall> EntropyLongCalls(const Operator& op) {
  constexpr int64_t kHuge = int64_t{1} << 36;
  std::vector<LongCall> calls;
  const auto add = [&](std::string_view label, const Dims& shape, int64_t reduction) {
    std::vector<TensorDesc> inputs = {Repeated(DType::kFloat32, shape),
                                      Repeated(DType::kInt64, {shape[0]}),
                                      Repeated(DType::kFloat32, {shape[1]})};
    std::vector<AttributeValue> attributes = {reduction, int64_t{-100}, 0.5, 0.0};
    if (IsEntropyGrad(op)) {
      inputs.insert(inputs.begin(),
                    Repeated(DType::kFloat32, reduction == 0 ? Dims{shape[0]} : Dims()));
    } else {
      attributes.emplace_back(false);
    }
    OpCall call = Draft(op.name, inputs, attributes);
    calls.push_back(Planned(std::string(label), std::move(call)));
  };
  add("samples", {kHuge, 4}, 1);
  add("losses", {kHuge, 4}, 0);
  add("classes", {40, kHuge}, 1);
  add("classes_of_few", {2, kHuge}, 0);
  return calls;
}

// What one sample's loss takes of a call whose numbers of the classes are input `self`.
struct EntropyRow {
  bool counts;
  size_t of_class;
  double weight;
};

class EntropyCall {
 public:
  EntropyCall(const OpCase& c, size_t self) : c_(c), self_(self) {
    smoothing = static_cast<double>(static_cast<float>(std::get<double>(c.attributes[2])));
    reduction = std::get<int64_t>(c.attributes[0]);
    rows = static_cast<size_t>(c.inputs[self]->desc().shape[0]);
    classes = static_cast<size_t>(c.inputs[self]->desc().shape[1]);
  }

  double Weight(size_t of_class) const {
    const std::optional<TestTensor>& weight = c_.inputs[self_ + 2];
    return weight.has_value() ? weight->At(static_cast<int64_t>(of_class)) : 1;
  }

  EntropyRow RowOf(size_t i) const {
    const auto target = static_cast<int64_t>(c_.inputs[self_ + 1]->At(static_cast<int64_t>(i)));
    if (target == std::get<int64_t>(c_.attributes[1])) return {false, 0, 0};
    return {true, static_cast<size_t>(target), Weight(static_cast<size_t>(target))};
  }

  double smoothing;
  int64_t reduction;
  size_t rows;
  size_t classes;

 private:
  const OpCase& c_;
  const size_t self_;
};

Reference LossesOf(const EntropyCall& call, const Reference& log_prob) {
  Reference losses;
  double total = 0, magnitude = 0, weight = 0, weights = 0;
  for (size_t i = 0; i < call.rows; ++i) {
    const EntropyRow row = call.RowOf(i);
    double loss = 0, terms = 0;
    if (row.counts) {
      const double* p = &log_prob.values[i * call.classes];
      const double* magnitude_of = &log_prob.magnitudes[i * call.classes];
      loss = -(1 - call.smoothing) * row.weight * p[row.of_class];
      terms = (1 - call.smoothing) * std::fabs(row.weight) * magnitude_of[row.of_class];
      const double share = call.smoothing / static_cast<double>(call.classes);
      for (size_t k = 0; call.smoothing > 0 && k < call.classes; ++k) {
        loss -= share * call.Weight(k) * p[k];
        terms += share * std::fabs(call.Weight(k)) * magnitude_of[k];
      }
    }
    losses.values.push_back(loss);
    losses.magnitudes.push_back(terms);
    total += loss;
    magnitude += terms;
    weight += row.weight;
    weights += std::fabs(row.weight);
  }
  if (call.reduction == 0) return losses;
  if (call.reduction == 2) return {{total}, {magnitude}};
  return {{total / weight}, {magnitude / std::fabs(weight) * weights / std::fabs(weight)}};
}

std::vector<Reference> EntropyReference(const OpCase& c) {
  OpCase rows = CallOf("LogSoftmax", {c.inputs[0]}, {int64_t{1}});
  const Reference log_prob = ReferenceOf(rows)[0];
  return {LossesOf(EntropyCall(c, 0), log_prob), log_prob, {}, {}};
}

std::vector<Reference> EntropyGradReference(const OpCase& c) {
  const EntropyCall call(c, 1);
  const std::vector<double> incoming = c.inputs[0]->Values();
  const std::vector<double> log_prob = c.inputs[1]->Values();
  double total = 0, all = 0;
  for (size_t i = 0; i < call.rows; ++i) total += call.RowOf(i).weight;
  for (size_t k = 0; k < call.classes; ++k) all += call.Weight(k);
  const double share = call.smoothing / static_cast<double>(call.classes);
  Reference out;
  for (size_t i = 0; i < call.rows; ++i) {
    const EntropyRow row = call.RowOf(i);
    const double k = incoming[call.reduction == 0 ? i : 0] / (call.reduction == 1 ? total : 1);
    const double of_target = (1 - call.smoothing) * row.weight;
    for (size_t j = 0; j < call.classes; ++j) {
      const double p = std::exp(log_prob[i * call.classes + j]) * (of_target + share * all);
      const double less = share * call.Weight(j) + (j == row.of_class ? of_target : 0);
      out.values.push_back(row.counts ? k * (p - less) : 0);
      out.magnitudes.push_back(row.counts ? std::fabs(k) * (std::fabs(p) + std::fabs(less)) : 0);
    }
  }
  return {out};
}

GradientProblem EntropyProblem(Rng& rng, int turn) {
  const Dims shape = {6, 5};
  const EntropySetting setting = {
      .reduction = turn % 3, .smoothing = turn % 2 == 0 ? 0.25 : 0, .weighted = turn % 4 < 2};
  const OpCase drawn =
      EntropyCase(**FindOperator("CrossEntropyLoss"), shape, DType::kFloat32, setting, rng);
  GradientProblem problem;
  problem.variables = {drawn.inputs[0]->Values()};
  const TestTensor grad = Normal(turn % 3 == 0 ? Dims{6} : Dims(), rng);
  problem.weights = grad.Values();
  problem.forward = [=](size_t, const std::vector<double>& values, DType dtype) {
    OpCase c = drawn;
    c.inputs[0] = TestTensor::Of(dtype, shape, values);
    return c;
  };
  const TestTensor log_prob =
      TestTensor::Of(DType::kFloat32, shape, EntropyReference(drawn)[1].values);
  problem.backward =
      CallOf("CrossEntropyLossGrad",
             {grad, log_prob, drawn.inputs[1], drawn.inputs[2], std::nullopt, std::nullopt},
             {drawn.attributes.begin(), drawn.attributes.begin() + 4});
  return problem;
}

}  // namespace

extern const OperatorTest kCrossEntropyLossTest = {
    .reference = EntropyReference,
    .cases = EntropyCases,
    .accuracy_cases = EntropyAccuracyCases,
    .long_calls = EntropyLongCalls,
    .ulps = 4,
};

extern const OperatorTest kCrossEntropyLossGradTest = {
    .reference = EntropyGradReference,
    .cases = EntropyCases,
    .accuracy_cases = EntropyAccuracyCases,
    .long_calls = EntropyLongCalls,
    .ulps = 5,
    .gradient = {.problem = EntropyProblem,
                 .tolerance = 2e-6,
                 .step = 0x1p-6,
                 .truncation = 0x1p-12},
};

}  // namespace opserve::testing::cross_entropy_loss
