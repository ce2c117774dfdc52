// Short calls for tests that state values: f32 vectors in, values out.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/support/cases.h"

namespace opserve::testing {

// A case of the operator called `op` with these inputs and attributes, in schema order.
OpCase CallOf(std::string_view op, std::vector<std::optional<TestTensor>> inputs,
              std::vector<AttributeValue> attributes);

// Runs `op_case` on an engine of one thread; all outputs in schema order.
absl::StatusOr<std::vector<TestTensor>> AllOutputs(const OpCase& op_case);

// The first output's values.
absl::StatusOr<std::vector<double>> FirstOutput(const OpCase& op_case);

// A rank-1 f32 tensor.
TestTensor Floats(const std::vector<double>& values);

}  // namespace opserve::testing
