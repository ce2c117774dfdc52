// What the tests of operators share that work along one dimension, their attribute 0.
#pragma once

#include <functional>
#include <vector>

#include "tests/support/operator_test.h"

namespace opserve::testing {

// Calls whose inputs are all of one shape: over shapes, dimensions and dtypes, of short rows, long
// ones and such as threads share, and of elements that are infinite and NaN.
std::vector<OpCase> RowCases(const Operator& op, Rng& rng);
std::vector<OpCase> RowAccuracyCases(const Operator& op, DType dtype, Rng& rng);
std::vector<LongCall> RowLongCalls(const Operator& op);

// `row` makes a row of the result of a row of each input, and the magnitudes of its terms.
using Row = std::vector<double>;
using RowFunction = std::function<void(const std::vector<Row>& in, Row& values, Row& magnitudes)>;
std::vector<Reference> RowReference(const OpCase& op_case, const RowFunction& row);

}  // namespace opserve::testing
