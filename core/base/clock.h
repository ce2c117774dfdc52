// Time is injected, so that tests need no sleeps.
#pragma once

#include "absl/time/time.h"

namespace opserve {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Now() const = 0;

  // The machine's clock; lives forever.
  static const Clock& Real();
};

}  // namespace opserve
