// Many small calls that came together: one piece of work for a device's workers, done in turns.
#pragma once

#include "absl/functional/any_invocable.h"
#include "core/device/device.h"
#include "core/engine/load/admission.h"
#include "core/engine/load/counters.h"

namespace opserve {

struct CallGroup {
  Device* device = nullptr;  // one of the engine's
  ClientId client = ClientId::kNone;
  int64_t bytes = 0;  // of all calls, estimated like `time`
  absl::Duration time;
  absl::Time deadline = absl::InfiniteFuture();
  // Asked before each turn; true drops what is left. May be empty. Any thread.
  absl::AnyInvocable<bool()> cancelled;
  // Runs (RunHere) or submits some of the calls, for about kTinyTime; about how long the others
  // take, zero when there are none. On a worker, one turn after the other. It must not block.
  absl::AnyInvocable<absl::Duration()> turn;
  // Called exactly once, with no lock held: OK on a worker, after the last turn. With an error for
  // what was left: when the group is refused, on the submitting thread before SubmitGroup returns;
  // when it was cancelled or expired, on a worker.
  absl::AnyInvocable<void(absl::Status)> done;
};

// Queues a group that was admitted. `counters` must outlive it.
void EnqueueGroup(CallGroup group, Admission::Place place, EngineCounters& counters);

}  // namespace opserve
