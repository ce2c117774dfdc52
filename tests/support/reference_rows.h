// References of the operators that are not element-wise. Called by their values in tests/ops.
#pragma once

#include <vector>

#include "tests/support/reference.h"

namespace opserve::testing {

std::vector<Reference> GroupNormReference(const OpCase& op_case);
std::vector<Reference> GroupNormBackwardReference(const OpCase& op_case);
std::vector<Reference> CtcLossReference(const OpCase& op_case);
std::vector<Reference> CtcLossBackwardReference(const OpCase& op_case);

}  // namespace opserve::testing
