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

// What an attribute of the gradient's operator is in the gradient of `forward`, as the schemas say;
// none where it has its default. Not of an output mask.
AttributeValue GradientAttributeOf(const OpCase& forward, const AttributeParam& param);
// Of all of them.
std::vector<AttributeValue> GradientAttributesOf(const OpCase& forward);

// Of an element-wise operator of one input, by the gradient that its schema names.
GradientProblem ElementwiseProblem(std::string_view forward,
                                   const std::vector<AttributeValue>& attributes,
                                   const std::vector<double>& bends, Rng& rng);

}  // namespace opserve::testing
