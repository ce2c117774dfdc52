// ATen's CPU operators on the calls of the accuracy table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/support/cases.h"

namespace opserve::testing {

// "1.13.1"; empty where this was built without libtorch.
std::string AtenVersion();

// ATen's outputs in schema order. What it has no kernel for in float16 is run in float32 on the
// same numbers and rounded once. nullopt without libtorch. All floating inputs must have one dtype.
std::optional<std::vector<TestTensor>> AtenOutputs(const OpCase& op_case);

}  // namespace opserve::testing
