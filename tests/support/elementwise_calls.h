// Calls and references of element-wise operators, whose elements depend on the elements of their
// inputs at the same place.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/cases.h"
#include "tests/support/long_call.h"
#include "tests/support/reference.h"
#include "tests/support/seed.h"

namespace opserve::testing {

// What is measured of a list of attributes is told under its label.
struct LabelledAttributes {
  std::string label;
  std::vector<AttributeValue> values;
};

// Over shapes and dtypes, with the lists of attributes of the operator's test (operator_test.h).
std::vector<OpCase> ElementwiseCases(const Operator& op, Rng& rng);
// Fewer: every shape with float32 and every dtype with one shape, the given lists in turns.
std::vector<OpCase> ElementwiseSample(const Operator& op,
                                      const std::vector<std::vector<AttributeValue>>& attributes,
                                      Rng& rng);
std::vector<OpCase> ElementwiseAccuracyCases(const Operator& op, DType dtype, Rng& rng);
std::vector<LongCall> ElementwiseLongCalls(const Operator& op);

// Dtypes of inputs, the last of which repeats.
struct CaseDTypes {
  std::string_view label;
  std::vector<DType> inputs;
  DType output = DType::kUndefined;
};

// One call of each shape with these.
std::vector<OpCase> ElementwiseCasesOf(const Operator& op, const CaseDTypes& dtypes,
                                       const std::vector<AttributeValue>& attributes, Rng& rng);

// A long call with all inputs of `shape`; `dtypes` are taken in turns.
LongCall ElementwiseLongCall(const Operator& op, std::string_view label,
                             const std::vector<DType>& dtypes, const Dims& shape,
                             const std::vector<AttributeValue>& attributes);

// The given inputs, broadcast together and rounded to their promoted dtype.
struct Broadcast {
  Dims shape;
  int64_t count = 0;
  DType promoted = DType::kUndefined;
  std::vector<std::vector<double>> inputs;
};
Broadcast BroadcastInputsOf(const OpCase& op_case);

double RoundTo(DType dtype, double value);

// The reference of an output without cancellation.
std::vector<Reference> ExactReference(std::vector<double> values);
// `function` of each element: of the elements of the inputs at its place.
std::vector<Reference> MapReference(
    const OpCase& op_case, const std::function<double(const std::vector<double>&)>& function);

}  // namespace opserve::testing
