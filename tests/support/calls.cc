#include "tests/support/calls.h"

#include "core/base/status_macros.h"
#include "core/op/op_table.h"
#include "gtest/gtest.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {

OpCase CallOf(std::string_view op, std::vector<std::optional<TestTensor>> inputs,
              std::vector<AttributeValue> attributes) {
  const absl::StatusOr<const Operator*> found = FindOperator(op);
  EXPECT_THAT(found, IsOk());
  OpCase op_case;
  op_case.label = "by hand";
  op_case.op = *found;
  op_case.inputs = std::move(inputs);
  op_case.attributes = std::move(attributes);
  return op_case;
}

absl::StatusOr<std::vector<TestTensor>> AllOutputs(const OpCase& op_case) {
  // One for all calls: an NPU takes longer to open than a call to run.
  static const std::unique_ptr<Engine> engine = MakeEngine(1);
  return Run(*engine, op_case);
}

absl::StatusOr<std::vector<double>> FirstOutput(const OpCase& op_case) {
  OPSERVE_ASSIGN_OR_RETURN(const std::vector<TestTensor> outputs, AllOutputs(op_case));
  return outputs[0].Values();
}

TestTensor Floats(const std::vector<double>& values) {
  return TestTensor::Of(DType::kFloat32, {static_cast<int64_t>(values.size())}, values);
}

}  // namespace opserve::testing
