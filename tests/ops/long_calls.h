// Calls that take long and need little memory: elements repeat, in inputs and outputs, and what is
// of full size is touched little by little.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/op/op_call.h"

namespace opserve::testing {

struct LongCall {
  std::string label;
  // Planned; all elements of an output may then have been laid onto one. Inputs are zeros.
  OpCall call;
  // CPU time after which it has come to what it is for; it is not over by then.
  absl::Duration stop_after = absl::Milliseconds(80);
};

void PrintTo(const LongCall& call, std::ostream* out);

// Of each operator calls that have each dimension in turn huge; fails the test when there are none.
std::vector<LongCall> LongCallsOf(const Operator& op);

// Of some operators calls that are over soon, but for what comes late in them and could be long.
std::vector<LongCall> CallsWithLongEnds();

}  // namespace opserve::testing
