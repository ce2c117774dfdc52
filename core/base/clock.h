// Time is injected, so that tests need no sleeps.
#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"

namespace opserve {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Now() const = 0;

  // For deadlines, waits and ages: the wall clock's time when the process first asked, and what has
  // passed since. It never jumps, nor goes back, and drifts from a wall clock that is set meanwhile
  // or while the machine sleeps; so a log's times are absl::Now's. Lives forever.
  static const Clock& Real();
};

// Waits for a notification; false when `deadline` had passed by the real clock. In the caller's
// loop, as all waits: it may return early.
bool WaitUntil(absl::Time deadline, CondVar& changed, Mutex& mutex)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

}  // namespace opserve
