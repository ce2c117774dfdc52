#include "tests/ops/loss_calls.h"

#include <cmath>

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
