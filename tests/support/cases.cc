#include "tests/support/cases.h"

namespace opserve::testing {

void PrintTo(const OpCase& op_case, std::ostream* out) {
  *out << op_case.op->name << " " << op_case.label;
}

NamedCall ToNamedCall(const OpCase& op_case) {
  NamedCall call;
  call.op = op_case.op;
  for (size_t i = 0; i < op_case.inputs.size(); ++i) {
    if (!op_case.inputs[i].has_value()) continue;
    call.inputs.push_back(
        {op_case.op->inputs[i].name, op_case.inputs[i]->desc(), static_cast<int>(i)});
  }
  for (size_t i = 0; i < op_case.attributes.size(); ++i) {
    if (!IsGiven(op_case.attributes[i])) continue;
    call.attributes.push_back({op_case.op->attributes[i].name, op_case.attributes[i]});
  }
  for (size_t i = 0; i < op_case.output_dtypes.size(); ++i) {
    call.outputs.push_back({op_case.op->outputs[i].name, op_case.output_dtypes[i], std::nullopt});
  }
  return call;
}

OpCase Scattered(const OpCase& op_case) {
  OpCase scattered = op_case;
  for (std::optional<TestTensor>& input : scattered.inputs) {
    if (input.has_value()) input = input->Scattered(2);
  }
  return scattered;
}

}  // namespace opserve::testing
