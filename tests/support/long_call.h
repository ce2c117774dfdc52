// Calls that take long and need little memory: elements repeat, in inputs and outputs, and what is
// of full size is touched little by little.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "core/op/op_call.h"

namespace opserve::testing {

// CPU time after which most kernels ask as they do until they end.
inline constexpr absl::Duration kSoon = absl::Milliseconds(20);

struct LongCall {
  std::string label;
  // Planned; all elements of an output may then have been laid onto one. Inputs are zeros.
  OpCall call;
  // CPU time after which it has come to what it is for; it is not over by then.
  absl::Duration stop_after = kSoon;
};

void PrintTo(const LongCall& call, std::ostream* out);

// Those of the operator's test (operator_test.h); fails the test when there are none.
std::vector<LongCall> LongCallsOf(const Operator& op);

// One element in memory for all.
TensorDesc Repeated(DType dtype, const Dims& shape);

// A call of `op` that is not planned yet.
OpCall Draft(std::string_view op, const std::vector<TensorDesc>& inputs,
             const std::vector<AttributeValue>& attributes);

// `call`, planned, with one element in memory for all of each output.
LongCall Planned(std::string label, OpCall call);

}  // namespace opserve::testing
