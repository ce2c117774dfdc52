// A call's phases as spans on the wall clock.
#pragma once

#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "server/tracing/call_record.h"

namespace opserve::server {

struct PhaseSpan {
  std::string_view name;  // "parse", "queue", "execute", "answer"
  absl::Time start;
  absl::Time end;
};

// When the whole call began, by the wall clock as it was when the call ended.
absl::Time StartOf(const CallRecord& call);

// The phases that the call went through, in their order, each within the call. A call that failed
// before the engine had it has "parse" and "answer", a session none.
std::vector<PhaseSpan> PhasesOf(const CallRecord& call);

}  // namespace opserve::server
