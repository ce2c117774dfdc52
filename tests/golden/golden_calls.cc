// Prints calls of element-wise operators whose answers make_goldens.py is to record, as JSON:
// golden_calls OPERATOR...
#include <algorithm>
#include <iostream>
#include <string>

#include "absl/strings/escaping.h"
#include "core/op/op_table.h"
#include "nlohmann/json.hpp"
#include "tests/support/operator_test.h"

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
  return std::get<double>(value);
}

json CallOf(const Operator& op, const Dims& shape, DType dtype,
            const std::vector<AttributeValue>& attributes, Rng& rng) {
  json call = {{"inputs", json::object()}, {"attributes", json::object()}};
  for (const TensorParam& input : op.inputs)
    call["inputs"][std::string(input.name)] = TensorOf(TestTensor::Random(dtype, shape, rng, 2));
  for (size_t i = 0; i < attributes.size(); ++i)
    call["attributes"][std::string(op.attributes[i].name)] = ValueOf(attributes[i]);
  return call;
}

json CallsOf(const Operator& op) {
  json result = {{"aten", std::string(TestOf(op).aten)},
                 {"output", std::string(op.outputs[0].name)}};
  Rng rng(20);
  for (const Dims& shape : {Dims{4, 2}, Dims{37}, Dims{}}) {
    for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kFloat16}) {
      for (const LabelledAttributes& list : TestOf(op).measured)
        result["calls"].push_back(CallOf(op, shape, dtype, list.values, rng));
    }
  }
  return result;
}

int Main(std::span<char* const> arguments) {
  json operators = json::object();
  for (const std::string_view name : arguments.subspan(1)) {
    const absl::StatusOr<const Operator*> op = FindOperator(name);
    if (!op.ok() || (*op)->runs_in_pieces == nullptr || TestOf(**op).aten.empty()) {
      std::cerr << name << ": no element-wise operator that PyTorch has\n";
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
