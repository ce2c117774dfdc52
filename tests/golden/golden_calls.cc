// Prints calls of operators whose answers make_goldens.py is to record, as JSON: golden_calls
// OPERATOR...
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>

#include "absl/strings/escaping.h"
#include "core/op/op_table.h"
#include "nlohmann/json.hpp"
#include "tests/support/operator_test.h"
#include "tests/support/run.h"

namespace opserve::testing {
namespace {

using nlohmann::json;

json TensorOf(const TestTensor& tensor) {
  const std::vector<std::byte> bytes = tensor.DenseBytes();
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const Dims& shape = tensor.desc().shape;
  return {{"dtype", std::string(DTypeShortName(tensor.desc().dtype))},
          {"shape", std::vector<int64_t>(shape.begin(), shape.end())},
          {"hex", absl::BytesToHexString(text)}};
}

json ValueOf(const AttributeValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return *number;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* choice = std::get_if<std::string>(&value)) return *choice;
  if (const auto* extents = std::get_if<std::vector<int64_t>>(&value)) return *extents;
  if (const auto* flags = std::get_if<std::vector<bool>>(&value)) return *flags;
  return std::get<double>(value);
}

json CallOf(const OpCase& op_case) {
  const Operator& op = *op_case.op;
  json call = {
      {"inputs", json::object()}, {"attributes", json::object()}, {"dtypes", json::object()}};
  const absl::StatusOr<OpCall> plan = PlanCase(op_case);
  for (size_t i = 0; plan.ok() && i < op.outputs.size(); ++i) {
    call["dtypes"][std::string(op.outputs[i].name)] =
        std::string(DTypeShortName(plan->outputs[i].desc.dtype));
  }
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (op_case.inputs[i].has_value())
      call["inputs"][std::string(op.inputs[i].name)] = TensorOf(*op_case.inputs[i]);
  }
  for (size_t i = 0; i < op.attributes.size(); ++i) {
    const AttributeParam& param = op.attributes[i];
    const std::string name(param.name);
    json& value = call["attributes"][name] = ValueOf(op_case.attributes[i]);
    if (TestOf(op).aten.find(name + "=") == std::string_view::npos) continue;
    for (const AttributeChoice& choice : param.choices) {
      if (value == choice.value) value = std::string(choice.name);
    }
  }
  return call;
}

// Of normally distributed elements, for operators that take any.
std::vector<OpCase> AnyCases(const Operator& op, Rng& rng) {
  std::vector<OpCase> cases;
  for (const Dims& shape : {Dims{4, 2}, Dims{37}, Dims{}}) {
    for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kFloat16}) {
      for (const LabelledAttributes& list : TestOf(op).measured) {
        OpCase& op_case = cases.emplace_back();
        op_case.op = &op;
        op_case.attributes = list.values;
        for (size_t i = 0; i < op.inputs.size(); ++i)
          op_case.inputs.push_back(TestTensor::Random(dtype, shape, rng, 2));
      }
    }
  }
  return cases;
}

// The small ones of those over which errors are measured.
constexpr int64_t kMostGoldenElements = 512;
std::vector<OpCase> OwnCases(const Operator& op, Rng& rng) {
  std::vector<OpCase> cases;
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kFloat16}) {
    for (const OpCase& op_case : TestOf(op).accuracy_cases(op, dtype, rng)) {
      const bool is_small =
          std::all_of(op_case.inputs.begin(), op_case.inputs.end(), [](const auto& input) {
            return !input.has_value() || input->count() <= kMostGoldenElements;
          });
      if (is_small) cases.push_back(op_case);
    }
  }
  return cases;
}

json CallsOf(const Operator& op) {
  json result = {{"aten", std::string(TestOf(op).aten)},
                 {"inputs", json::array()},
                 {"outputs", json::array()}};
  for (const TensorParam& input : op.inputs) result["inputs"].push_back(std::string(input.name));
  for (const TensorParam& output : op.outputs)
    result["outputs"].push_back(std::string(output.name));
  Rng rng(20);
  const bool any = TestOf(op).accuracy_cases == ElementwiseAccuracyCases;
  for (const OpCase& op_case : any ? AnyCases(op, rng) : OwnCases(op, rng))
    result["calls"].push_back(CallOf(op_case));
  return result;
}

int Main(std::span<char* const> arguments) {
  setenv("OPSERVE_TEST_SEED", "20", 1);  // the same calls each time
  json operators = json::object();
  for (const std::string_view name : arguments.subspan(1)) {
    const absl::StatusOr<const Operator*> op = FindOperator(name);
    if (!op.ok()) {
      std::cerr << name << ": no such operator\n";
      return 2;
    }
    operators[std::string(name)] = CallsOf(**op);
  }
  std::cout << operators << "\n";
  return 0;
}

}  // namespace
}  // namespace opserve::testing

int main(int argc, char** argv) {
  return opserve::testing::Main({argv, static_cast<size_t>(argc)});
}
