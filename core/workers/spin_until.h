// Waiting without sleep, for what is likely to come soon. Used by WorkerPool only.
#pragma once

#include <sched.h>

#include <chrono>

namespace opserve {

// How long a thread looks for work before it leaves: calling it back costs about as much.
inline constexpr std::chrono::microseconds kIdleSpin{50};

// Calls `ready` until it is true or the time is over; others may have the core meanwhile.
template <typename Ready>
bool SpinUntil(Ready ready) {
  if (ready()) return true;
  const auto end = std::chrono::steady_clock::now() + kIdleSpin;
  do {
    sched_yield();
    if (ready()) return true;
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace opserve
