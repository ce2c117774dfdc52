// The two ways to load a server: a fixed number of messages under way (closed loop), or messages at
// moments that do not depend on how the server does (open loop).
#pragma once

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "client/loadtest/figures/arrivals.h"
#include "client/loadtest/figures/recorder.h"
#include "client/loadtest/load/gate.h"
#include "client/loadtest/load/lane.h"
#include "client/loadtest/load/mix.h"

namespace opserve::loadtest {

// What a loop works with. All of it outlives the loop.
struct LoopParts {
  const Lanes& lanes;
  Mix& mix;
  Gate& gate;
  Recorder& recorder;
};

// Keeps `in_flight` messages under way, in turn over the lanes, until the gate closes; returns once
// the last is over. A place whose message was UNAVAILABLE rests for a moment; one whose lane is
// broken sends no more.
void RunClosedLoop(const LoopParts& parts, int in_flight);

struct OpenLoop {
  std::vector<RatePhase> phases;
  Spacing spacing = Spacing::kRandom;
  std::vector<absl::Duration> recorded;  // instead of phases
  uint64_t seed = 1;
  int threads = 1;  // that send
  int64_t max_outstanding = 0;
};

// Sends when the arrivals say, counted from now, until they or the gate end; returns once the last
// message is over. Latencies and time-outs count from the moment at which a message was due,
// however late it leaves. One that would leave after its time-out, or while `max_outstanding` are
// under way, is not sent, and counted.
void RunOpenLoop(const LoopParts& parts, const OpenLoop& load);

}  // namespace opserve::loadtest
