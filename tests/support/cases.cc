#include "tests/support/cases.h"

#include <cstdio>
#include <cstdlib>

#include "core/op/op_table.h"

namespace opserve::testing {

void PrintTo(const OpCase& op_case, std::ostream* out) {
  *out << op_case.op->name << " " << op_case.label;
}

std::vector<const Operator*> OperatorsOfShard() {
  size_t index = 0;
  size_t count = 1;
  const char* shard = std::getenv("OPSERVE_TEST_SHARD");
  if (shard != nullptr && (std::sscanf(shard, "%zu/%zu", &index, &count) != 2 || index >= count)) {
    std::fprintf(stderr, "OPSERVE_TEST_SHARD: got %s, want INDEX/COUNT, as in 0/5\n", shard);
    std::abort();
  }
  std::vector<const Operator*> operators;
  for (size_t i = index; i < AllOperators().size(); i += count) {
    operators.push_back(AllOperators()[i]);
  }
  return operators;
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
