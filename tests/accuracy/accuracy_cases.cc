#include "tests/accuracy/accuracy_cases.h"

#include <functional>
#include <string_view>

#include "tests/support/operator_test.h"

namespace opserve::testing {

std::vector<OpCase> AccuracyCases(const Operator& op) {
  std::vector<OpCase> cases;
  for (const DType dtype : {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    if (!op.support[static_cast<size_t>(Profile::kHost)].Contains(dtype)) continue;
    Rng rng = MakeRng(std::hash<std::string_view>()(op.name) + 1);
    for (OpCase& op_case : TestOf(op).accuracy_cases(op, dtype, rng))
      cases.push_back(std::move(op_case));
  }
  return cases;
}

OpCase InFloats(const OpCase& op_case) {
  OpCase floats = op_case;
  for (std::optional<TestTensor>& input : floats.inputs) {
    if (!input.has_value() || !IsFloating(input->desc().dtype)) continue;
    input = TestTensor::Of(DType::kFloat32, input->desc().shape, input->Values());
  }
  return floats;
}

}  // namespace opserve::testing
