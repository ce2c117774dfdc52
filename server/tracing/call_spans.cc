#include "server/tracing/call_spans.h"

#include <algorithm>

namespace opserve::server {

absl::Time StartOf(const CallRecord& call) {
  return call.ended_at - (call.phases.ended - call.phases.begun);
}

std::vector<PhaseSpan> PhasesOf(const CallRecord& call) {
  const CallPhases& phases = call.phases;
  if (phases.answered == absl::InfinitePast() || call.is_session) return {};
  const absl::Time start = StartOf(call);
  const auto on_wall = [&](absl::Time time) {
    return start + (std::clamp(time, phases.begun, phases.ended) - phases.begun);
  };
  std::vector<PhaseSpan> spans;
  const bool ran = phases.handed_over > absl::InfinitePast();
  const absl::Time parsed = ran ? phases.handed_over : phases.answered;
  spans.push_back({"parse", start, on_wall(parsed)});
  absl::Time done = parsed;
  if (ran) {
    const absl::Time begun = phases.handed_over + phases.queued;
    done = begun + phases.executed;
    spans.push_back({"queue", on_wall(parsed), on_wall(begun)});
    spans.push_back({"execute", on_wall(begun), on_wall(done)});
  }
  spans.push_back({"answer", on_wall(done), call.ended_at});
  return spans;
}

}  // namespace opserve::server
