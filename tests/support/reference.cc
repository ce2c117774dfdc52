#include "tests/support/reference.h"

#include <cmath>
#include <functional>
#include <limits>

#include "gtest/gtest.h"
#include "tests/support/reference_rows.h"

namespace opserve::testing {
namespace {

// The inputs of an element-wise operator, broadcast together and rounded to their promoted dtype.
struct Broadcast {
  Dims shape;
  int64_t count = 0;
  DType promoted = DType::kUndefined;
  std::vector<std::vector<double>> inputs;
};

double RoundTo(DType dtype, double value) {
  std::byte element[sizeof(double)];
  EXPECT_TRUE(StoreElement(dtype, value, element).ok());
  return LoadAsDouble(dtype, element);
}

Broadcast BroadcastInputsOf(const OpCase& op_case) {
  Broadcast result;
  DType promoted = op_case.inputs[0]->desc().dtype;
  for (const std::optional<TestTensor>& input : op_case.inputs) {
    result.shape = *BroadcastShapes(result.shape, input->desc().shape);
    promoted = PromoteDTypes(promoted, input->desc().dtype);
  }
  result.count = *NumElements(result.shape);
  result.promoted = promoted;
  for (const std::optional<TestTensor>& input : op_case.inputs) {
    std::vector<double>& values = result.inputs.emplace_back();
    values = BroadcastValues(*input, result.shape);
    if (input->desc().dtype == promoted) continue;
    for (double& value : values) value = RoundTo(promoted, value);
  }
  return result;
}

std::vector<Reference> Exact(std::vector<double> values) {
  Reference reference;
  reference.magnitudes.reserve(values.size());
  for (const double value : values) reference.magnitudes.push_back(std::fabs(value));
  reference.values = std::move(values);
  return {reference};
}

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

std::vector<Reference> Loss(const OpCase& op_case) {
  const Broadcast in = BroadcastInputsOf(op_case);
  const double beta = BetaOf(op_case);
  const int64_t reduction = std::get<int64_t>(op_case.attributes[0]);
  std::vector<double> losses;
  double sum = 0;
  for (size_t i = 0; i < static_cast<size_t>(in.count); ++i) {
    losses.push_back(SmoothLoss(in.inputs[0][i] - in.inputs[1][i], beta));
    sum += losses.back();
  }
  if (reduction == 0) return Exact(losses);
  return Exact({reduction == 1 ? sum / static_cast<double>(in.count) : sum});
}

std::vector<Reference> LossBackward(const OpCase& op_case) {
  const Broadcast in = BroadcastInputsOf(op_case);
  const double beta = BetaOf(op_case);
  const bool mean = std::get<int64_t>(op_case.attributes[0]) == 1;
  const double k =
      mean ? static_cast<double>(static_cast<float>(1.0 / static_cast<double>(in.count))) : 1.0;
  std::vector<double> gradients;
  for (size_t i = 0; i < static_cast<size_t>(in.count); ++i) {
    gradients.push_back(SmoothSlope(in.inputs[1][i] - in.inputs[2][i], beta) * in.inputs[0][i] * k);
  }
  return Exact(gradients);
}

// Hardshrink(self) passes self; its backward passes the gradient of (grad, self).
std::vector<Reference> Hardshrink(const OpCase& op_case) {
  const Broadcast in = BroadcastInputsOf(op_case);
  AttributeValue lambd = op_case.attributes[0];
  EXPECT_TRUE(ConvertAttribute(AttributeKind::kScalar, lambd));
  const double rounded = RoundTo(in.promoted, std::get<double>(lambd));
  const double threshold = rounded < 0 ? 0 : rounded;
  const std::vector<double>& self = in.inputs.back();
  std::vector<double> values;
  for (size_t i = 0; i < self.size(); ++i) {
    values.push_back(std::fabs(self[i]) <= threshold ? 0 : in.inputs.front()[i]);
  }
  return Exact(values);
}

}  // namespace

std::vector<Reference> ReferenceOf(const OpCase& op_case) {
  struct Row {
    std::string_view op;
    std::vector<Reference> (*reference)(const OpCase&);
  };
  static constexpr Row kRows[] = {
      {"CtcLoss", CtcLossReference},
      {"CtcLossBackward", CtcLossBackwardReference},
      {"GroupNorm", GroupNormReference},
      {"GroupNormBackward", GroupNormBackwardReference},
      {"Hardshrink", Hardshrink},
      {"HardshrinkBackward", Hardshrink},
      {"L1Loss", Loss},
      {"L1LossBackward", LossBackward},
      {"SmoothL1Loss", Loss},
      {"SmoothL1LossBackward", LossBackward},
  };
  for (const Row& row : kRows) {
    if (row.op == op_case.op->name) return row.reference(op_case);
  }
  ADD_FAILURE() << "tests/support/reference.cc has no reference of " << op_case.op->name;
  return {};
}

}  // namespace opserve::testing
