// Somebody sets the machine's wall clock, as seen by this process alone. A test that links this has
// a clock_gettime of its own.
#pragma once

#include "absl/time/time.h"

namespace opserve::testing {

// From its construction, after which absl::Now() shows it, until its end. One at a time.
class WallClockJump {
 public:
  explicit WallClockJump(absl::Duration jump);
  ~WallClockJump();
  WallClockJump(const WallClockJump&) = delete;
  WallClockJump& operator=(const WallClockJump&) = delete;
};

}  // namespace opserve::testing
