// Time is injected, so that tests need no sleeps.
#pragma once

#include "absl/time/time.h"

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

}  // namespace opserve
