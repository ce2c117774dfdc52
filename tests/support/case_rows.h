// Cases of the operators that are not element-wise. Called by their values in tests/ops.
#pragma once

#include <vector>

#include "tests/support/cases.h"
#include "tests/support/seed.h"

namespace opserve::testing {

std::vector<OpCase> GroupNormCases(const Operator& op, Rng& rng);
std::vector<OpCase> CtcLossCases(const Operator& op, Rng& rng);

}  // namespace opserve::testing
