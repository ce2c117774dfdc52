// Cases of the operators that are not element-wise. Called by cases.cc.
#pragma once

#include <vector>

#include "tests/support/cases.h"
#include "tests/support/seed.h"

namespace opserve::testing {

std::vector<OpCase> GroupNormCases(const Operator& op, Rng& rng);
std::vector<OpCase> CtcLossCases(const Operator& op, Rng& rng);

}  // namespace opserve::testing
