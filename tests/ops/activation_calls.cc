#include "tests/ops/activation_calls.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace opserve::testing {
namespace {

OpCase CaseOf(const Operator& op, std::string label,
              const std::vector<AttributeValue>& attributes) {
  OpCase op_case;
  op_case.op = &op;
  for (const AttributeValue& value : attributes)
    absl::StrAppend(&label, "/", AttributeInWords(value));
  op_case.label = std::move(label);
  op_case.attributes = attributes;
  return op_case;
}

OpCase OfAllMagnitudes(const Operator& op, DType dtype,
                       const std::vector<AttributeValue>& attributes, Rng& rng) {
  OpCase op_case =
      CaseOf(op, absl::StrCat("magnitudes/", std::string(DTypeShortName(dtype))), attributes);
  const Dims shape = {4001};
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    // A gradient that comes in is an ordinary number.
    op_case.inputs.push_back(op.inputs.size() > 1 && i == 0
                                 ? TestTensor::Random(dtype, shape, rng)
                                 : TestTensor::OfAllMagnitudes(dtype, shape, rng));
  }
  return op_case;
}

}  // namespace

std::vector<OpCase> ActivationCases(const Operator& op, Rng& rng) {
  const std::vector<std::vector<AttributeValue>>& attributes = TestOf(op).attributes;
  std::vector<OpCase> cases = ElementwiseSample(op, attributes, rng);
  for (const std::vector<AttributeValue>& list : attributes)
    cases.push_back(OfAllMagnitudes(op, DType::kFloat32, list, rng));
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16})
    cases.push_back(OfAllMagnitudes(op, dtype, attributes[0], rng));
  return cases;
}

double ScalarOf(const OpCase& op_case, size_t attribute) {
  AttributeValue value = op_case.attributes[attribute];
  if (!IsGiven(value)) value = op_case.op->attributes[attribute].default_value.ToValue();
  EXPECT_TRUE(ConvertAttribute(AttributeKind::kScalar, value));
  return static_cast<double>(static_cast<float>(std::get<double>(value)));
}

std::vector<Reference> SumReference(
    const OpCase& op_case,
    const std::function<std::vector<double>(const std::vector<double>&)>& terms) {
  const Broadcast in = BroadcastInputsOf(op_case);
  Reference reference;
  std::vector<double> elements(in.inputs.size());
  for (size_t i = 0; i < static_cast<size_t>(in.count); ++i) {
    for (size_t k = 0; k < elements.size(); ++k) elements[k] = in.inputs[k][i];
    double value = 0;
    double magnitude = 0;
    for (const double term : terms(elements)) {
      value += term;
      magnitude += std::fabs(term);
    }
    reference.values.push_back(value);
    reference.magnitudes.push_back(magnitude);
  }
  return {reference};
}

double Logistic(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

}  // namespace opserve::testing
