// Calls over which errors are measured: random numbers, several shapes, every dtype.
#pragma once

#include <vector>

#include "tests/support/cases.h"

namespace opserve::testing {

// Of one operator. All floating inputs of a case have one dtype; labels tell apart what is to be
// measured apart ("mean 0", "T500"). Elements are drawn from the test seed, the same for each dtype
// but for rounding.
std::vector<OpCase> AccuracyCases(const Operator& op);

// The same call on the same numbers in float32.
OpCase InFloats(const OpCase& op_case);

}  // namespace opserve::testing
