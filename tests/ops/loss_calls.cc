#include "tests/ops/loss_calls.h"

#include <cmath>

#include "core/op/op_table.h"
#include "tests/support/calls.h"
#include "tests/support/gradient_values.h"

namespace opserve::testing {
namespace {

double SmoothLoss(double x, double beta) {
  const double size = std::fabs(x);
  return size < beta ? 0.5 * size * size / beta : size - 0.5 * beta;
}

double SmoothSlope(double x, double beta) {
  if (beta == 0) return x > 0 ? 1 : x < 0 ? -1 : 0;
  if (x <= -beta) return -1;
  if (x >= beta) return 1;
  return x / beta;
}

// beta is a float in the interface; L1 has none.
double BetaOf(const OpCase& op_case) {
  const int beta = op_case.op->FindAttribute("beta");
  if (beta < 0) return 0;
  return static_cast<double>(
      static_cast<float>(std::get<double>(op_case.attributes[static_cast<size_t>(beta)])));
}

}  // namespace

std::vector<Reference> LossReference(const OpCase& op_case) {
  const Broadcast in = BroadcastInputsOf(op_case);
  const double beta = BetaOf(op_case);
  const int64_t reduction = std::get<int64_t>(op_case.attributes[0]);
  std::vector<double> losses;
  double sum = 0;
  for (size_t i = 0; i < static_cast<size_t>(in.count); ++i) {
    losses.push_back(SmoothLoss(in.inputs[0][i] - in.inputs[1][i], beta));
    sum += losses.back();
  }
  if (reduction == 0) return ExactReference(losses);
  return ExactReference({reduction == 1 ? sum / static_cast<double>(in.count) : sum});
}

std::vector<Reference> LossBackwardReference(const OpCase& op_case) {
  const Broadcast in = BroadcastInputsOf(op_case);
  const double beta = BetaOf(op_case);
  const bool mean = std::get<int64_t>(op_case.attributes[0]) == 1;
  const double k =
      mean ? static_cast<double>(static_cast<float>(1.0 / static_cast<double>(in.count))) : 1.0;
  std::vector<double> gradients;
  for (size_t i = 0; i < static_cast<size_t>(in.count); ++i) {
    gradients.push_back(SmoothSlope(in.inputs[1][i] - in.inputs[2][i], beta) * in.inputs[0][i] * k);
  }
  return ExactReference(gradients);
}

namespace {

int64_t ReductionOfCase(const OpCase& op_case) {
  const auto* given = std::get_if<int64_t>(&op_case.attributes[0]);
  return given == nullptr ? 1 : *given;
}

// What a mean divides by.
double DivisorOf(const OpCase& op_case, const Broadcast& in) {
  const int64_t reduction = ReductionOfCase(op_case);
  if (reduction == 1) return static_cast<double>(in.count);
  return reduction == 3 && !in.shape.empty() ? static_cast<double>(in.shape[0]) : 1;
}

// The elements of each input at place `i`.
std::vector<double> ElementsAt(const OpCase& op_case, const Broadcast& in, size_t i) {
  std::vector<double> elements;
  size_t given = 0;
  for (const std::optional<TestTensor>& input : op_case.inputs)
    elements.push_back(input.has_value() ? in.inputs[given++][i] : 1);
  return elements;
}

}  // namespace

std::vector<Reference> ReducedReference(const OpCase& op_case, const Terms& loss) {
  const Broadcast in = BroadcastInputsOf(op_case);
  Reference each;
  Reference all = {{0}, {0}};
  for (size_t i = 0; i < static_cast<size_t>(in.count); ++i) {
    double value = 0;
    double magnitude = 0;
    for (const double term : loss(ElementsAt(op_case, in, i))) {
      value += term;
      magnitude += std::fabs(term);
    }
    each.values.push_back(value);
    each.magnitudes.push_back(magnitude);
    all.values[0] += value;
    all.magnitudes[0] += magnitude;
  }
  if (ReductionOfCase(op_case) == 0) return {each};
  const double divisor = DivisorOf(op_case, in);
  return {{{all.values[0] / divisor}, {all.magnitudes[0] / divisor}}};
}

std::vector<Reference> LossGradientReference(const OpCase& op_case, const Terms& slope) {
  const Broadcast in = BroadcastInputsOf(op_case);
  const double k = static_cast<double>(static_cast<float>(1 / DivisorOf(op_case, in)));
  Reference reference;
  for (size_t i = 0; i < static_cast<size_t>(in.count); ++i) {
    const std::vector<double> elements = ElementsAt(op_case, in, i);
    double value = 0;
    double magnitude = 0;
    for (const double term : slope(elements)) {
      value += term * (elements[0] * k);
      magnitude += std::fabs(term * (elements[0] * k));
    }
    reference.values.push_back(value);
    reference.magnitudes.push_back(magnitude);
  }
  return {reference};
}

std::vector<OpCase> LossCases(const Operator& op, Rng& rng) {
  std::vector<OpCase> cases = ElementwiseSample(op, TestOf(op).attributes, rng);
  // In turns: all optional inputs, none, the first alone, the last alone.
  for (size_t i = 0; i < cases.size(); ++i) {
    size_t optional = 0;
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      if (op.inputs[k].presence == Presence::kRequired) continue;
      const size_t turn = (i + 3) % 4;  // the second has all
      if (turn == 1 || (turn == 2 && optional > 0) || (turn == 3 && optional == 0))
        cases[i].inputs[k].reset();
      ++optional;
    }
  }
  return cases;
}

std::vector<OpCase> WithValues(std::vector<OpCase> cases, Draw self, Draw target, Rng& rng) {
  for (OpCase& op_case : cases) {
    for (const auto& [name, draw] : {std::pair("self", self), std::pair("target", target)}) {
      TestTensor& tensor = *op_case.inputs[static_cast<size_t>(op_case.op->FindInput(name))];
      std::vector<double> values(static_cast<size_t>(tensor.count()));
      for (double& value : values) value = draw(rng);
      tensor = TestTensor::Of(tensor.desc().dtype, tensor.desc().shape, values);
    }
  }
  return cases;
}

GradientProblem DrawnLossProblem(std::string_view forward,
                                 const std::vector<AttributeValue>& further, Draw self, Draw target,
                                 Rng& rng, int turn) {
  const Operator& op = **FindOperator(forward);
  const Dims shape = {5, 8};
  const auto drawn = [&](Draw draw, size_t count) {
    std::vector<double> values(count);
    for (double& value : values) value = static_cast<double>(static_cast<float>(draw(rng)));
    return values;
  };
  std::vector<AttributeValue> attributes = {int64_t{turn % 3}};
  attributes.insert(attributes.end(), further.begin(), further.end());
  std::vector<std::optional<TestTensor>> others = {
      TestTensor::Of(DType::kFloat32, {8}, drawn(target, 8))};
  for (size_t i = 2; i < op.inputs.size(); ++i)
    others.push_back(turn % 2 == 0 ? std::optional(Normal({5, 1}, rng)) : std::nullopt);
  const TestTensor grad = turn % 3 == 0 ? Normal(shape, rng) : Normal({}, rng);
  GradientProblem problem;
  problem.variables = {drawn(self, 40)};
  problem.weights = grad.Values();
  const auto inputs = [=](const TestTensor& prediction, DType dtype) {
    std::vector<std::optional<TestTensor>> all = {prediction};
    for (const std::optional<TestTensor>& other : others)
      all.push_back(other.has_value() ? std::optional(As(dtype, *other)) : std::nullopt);
    return all;
  };
  problem.forward = [=, &op](size_t, const std::vector<double>& values, DType dtype) {
    return CallOf(op.name, inputs(TestTensor::Of(dtype, shape, values), dtype), attributes);
  };
  std::vector<std::optional<TestTensor>> backward =
      inputs(TestTensor::Of(DType::kFloat32, shape, problem.variables[0]), DType::kFloat32);
  backward.insert(backward.begin(), grad);
  problem.backward = CallOf(op.gradient.op, std::move(backward), attributes);
  return problem;
}

std::vector<LabelledAttributes> Reductions(const std::vector<AttributeValue>& further) {
  std::vector<LabelledAttributes> lists = {
      {"none", {int64_t{0}}}, {"mean", {int64_t{1}}}, {"sum", {int64_t{2}}}};
  for (LabelledAttributes& list : lists)
    list.values.insert(list.values.end(), further.begin(), further.end());
  return lists;
}

std::vector<LongCall> LossLongCalls(const Operator& op) {
  std::vector<LongCall> calls = ElementwiseLongCalls(op);
  calls.push_back(
      ElementwiseLongCall(op, "mean", {DType::kFloat32}, {int64_t{1} << 48}, {int64_t{1}}));
  calls.push_back(ElementwiseLongCall(op, "sum", {DType::kBFloat16}, {int64_t{1} << 20, 1 << 20},
                                      {int64_t{2}}));
  return calls;
}

// reduction and beta as `turn` has them; self − target keeps away from the bends.
GradientProblem LossProblem(LossKind kind, Rng& rng, int turn) {
  const bool smooth = kind == LossKind::kSmoothL1;
  const Dims shape = {5, 8};
  const double beta = turn % 2 == 0 ? 0.5 : 1.0;
  std::vector<AttributeValue> attributes = {int64_t{turn % 3}};
  if (smooth) attributes.emplace_back(beta);
  const TestTensor target = TestTensor::Full(DType::kFloat32, {5, 1}, turn % 4);
  std::vector<double> self = AwayFrom({smooth ? beta : 0.0}, 40, rng);
  for (double& value : self) value += turn % 4;
  const TestTensor grad = turn % 3 == 0 ? Normal(shape, rng) : Normal({}, rng);
  GradientProblem problem;
  problem.variables = {self};
  problem.weights = grad.Values();
  problem.backward =
      CallOf(smooth ? "SmoothL1LossBackward" : "L1LossBackward",
             {grad, TestTensor::Of(DType::kFloat32, shape, self), target}, attributes);
  problem.forward = [=](size_t, const std::vector<double>& values, DType dtype) {
    return CallOf(smooth ? "SmoothL1Loss" : "L1Loss",
                  {TestTensor::Of(dtype, shape, values), As(dtype, target)}, attributes);
  };
  return problem;
}

}  // namespace opserve::testing
