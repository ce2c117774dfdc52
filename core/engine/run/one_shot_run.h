// Phase two of a one-shot call. Of the engine only.
#pragma once

#include "core/engine/load/counters.h"
#include "core/engine/run/one_shot.h"

namespace opserve {

// Drops a call that is cancelled, or expired at `now`; else checks, leases, gathers, executes. Does
// not call `done`.
absl::StatusOr<Outputs> ExecuteOneShot(OneShot& shot, absl::Time now, const Clock& clock);

// The same, from `start` on, counted and ended: lets go of `place` before it tells `done`.
void RunOneShot(OneShot& shot, absl::Time start, Admission::Place place, EngineCounters& counters);

// The turn of a call that waited has come: counts how long that took.
void EndWait(const OneShot& shot, Admission::Place& place, absl::Time now,
             EngineCounters& counters);

// Queues a call that was admitted. `counters` must outlive it.
void EnqueueOneShot(OneShot shot, Admission::Place place, WorkerPool::Size size,
                    EngineCounters& counters);

}  // namespace opserve
