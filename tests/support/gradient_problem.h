// Gradient problems (operator_test.h) of any forward, from the two schemas.
#pragma once

#include "tests/support/operator_test.h"

namespace opserve::testing {

// `forward`, of float32 inputs, and the gradient that its schema names: the variables are the
// inputs that have one, in the order of the gradient's outputs.
GradientProblem ProblemOf(const OpCase& forward, Rng& rng);

}  // namespace opserve::testing
