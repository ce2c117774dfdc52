#include "core/base/clock.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "absl/time/clock.h"

namespace opserve {
namespace {

int64_t SteadyNanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::nanoseconds(now).count();
}

class RealClock final : public Clock {
 public:
  absl::Time Now() const override {
    return absl::FromUnixNanos(wall_at_zero_ + SteadyNanoseconds());
  }

 private:
  const int64_t wall_at_zero_ = absl::GetCurrentTimeNanos() - SteadyNanoseconds();
};

}  // namespace

const Clock& Clock::Real() {
  // Never destroyed: threads may ask when the process ends.
  static const RealClock& clock = *new RealClock;
  return clock;
}

bool WaitUntil(absl::Time deadline, CondVar& changed, Mutex& mutex) {
  const absl::Duration left = deadline - Clock::Real().Now();
  if (left <= absl::ZeroDuration()) return false;
  // The system's clock ends before ours.
  changed.WaitFor(mutex, absl::ToChronoNanoseconds(std::min(left, absl::Hours(1))));
  return true;
}

}  // namespace opserve
