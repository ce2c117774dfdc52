#include "tests/support/wall_clock.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>

#include "absl/time/clock.h"

namespace {

std::atomic<int64_t> jump_seconds = 0;

}  // namespace

// Shared libraries find the program's before libc's.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += jump_seconds.load();
  return result;
}

namespace opserve::testing {
namespace {

using Steady = std::chrono::steady_clock;

absl::Duration SinceSteadyZero() { return absl::FromChrono(Steady::now().time_since_epoch()); }

// Abseil looks at the wall clock every other second and counts cycles between.
void SetAndAwait(absl::Duration jump) {
  const absl::Time before = absl::Now();
  const absl::Duration start = SinceSteadyZero();
  const absl::Duration change =
      jump - absl::Seconds(jump_seconds.exchange(absl::ToInt64Seconds(jump)));
  const absl::Duration half = absl::AbsDuration(change) / 2;
  while (absl::AbsDuration(absl::Now() - before - (SinceSteadyZero() - start)) < half)
    absl::SleepFor(absl::Milliseconds(5));
}

}  // namespace

WallClockJump::WallClockJump(absl::Duration jump) { SetAndAwait(jump); }
WallClockJump::~WallClockJump() { SetAndAwait(absl::ZeroDuration()); }

}  // namespace opserve::testing
