// Every operator in float64 or better, element by element, from its formula. Shares nothing with
// the kernels.
#pragma once

#include <vector>

#include "tests/support/cases.h"

namespace opserve::testing {

// The exact result of one output, and for each element the sum of the magnitudes of the terms that
// make it: rounding errors are measured against that, so that cancellation is not blamed on a
// kernel.
struct Reference {
  std::vector<double> values;
  std::vector<double> magnitudes;
};

// Outputs in schema order. Inputs are rounded to their promoted dtype first, as the contract says;
// scalars as it says.
std::vector<Reference> ReferenceOf(const OpCase& op_case);

}  // namespace opserve::testing
