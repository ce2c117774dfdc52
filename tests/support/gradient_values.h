// What gradient problems (operator_test.h) are made of.
#pragma once

#include <string_view>
#include <vector>

#include "tests/support/operator_test.h"

namespace opserve::testing {

// Numbers that float32 holds, at least 1/8 from each of `bends` and of −`bends`: the wider step of
// kernels crosses none.
std::vector<double> AwayFrom(const std::vector<double>& bends, size_t count, Rng& rng);

// Normally distributed, in float32.
TestTensor Normal(const Dims& shape, Rng& rng);

TestTensor As(DType dtype, const TestTensor& tensor);

// Of an element-wise operator of one input, by the gradient that its schema names.
GradientProblem ElementwiseProblem(std::string_view forward,
                                   const std::vector<AttributeValue>& attributes,
                                   const std::vector<double>& bends, Rng& rng);

}  // namespace opserve::testing
