// What the tests of the gates share: operators that cut a tensor into halves along a dimension.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "tests/support/gradient_values.h"
#include "tests/support/operator_test.h"

namespace opserve::testing {

// Of the forward the tensor that is cut is input 0, of its gradient input 1; dim is attribute 0.
std::vector<OpCase> GateCases(const Operator& op, Rng& rng);
std::vector<OpCase> GateAccuracyCases(const Operator& op, DType dtype, Rng& rng);
std::vector<LongCall> GateLongCalls(const Operator& op);

// A factor, and terms, whose sum times the factor is an element, of the elements at its place: of
// each input in order, of the one that is cut both halves' one after the other.
using GateTerms = std::function<std::vector<double>(const std::vector<double>&)>;
// An output as a half, and one as the whole.
Reference HalfReference(const OpCase& op_case, const GateTerms& terms);
Reference WholeReference(const OpCase& op_case, const GateTerms& first, const GateTerms& second);

// `value`, which decays as e^exponent does, as kernels have it: 0 where it is far below all numbers
// that float32 holds, so that an infinity times it is NaN.
double Decayed(double value, double exponent);

// The gradient of a gate `forward`.
GradientProblem GateProblem(std::string_view forward, std::vector<AttributeValue> attributes,
                            Rng& rng, int turn);

}  // namespace opserve::testing
