#include "server/http/port/cpu_budget.h"

#include <algorithm>
#include <ctime>

namespace opserve::server {

absl::Duration ThreadCpuTime() {
  timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return absl::DurationFromTimespec(time);
}

absl::Duration CpuBudget::Rest(absl::Time now) {
  const absl::Duration passed = std::max(now - reckoned_, absl::ZeroDuration());
  reckoned_ = std::max(now, reckoned_);
  left_ = std::min(left_ + share_ * passed, burst_);
  return left_ < absl::ZeroDuration() ? -left_ / share_ : absl::ZeroDuration();
}

}  // namespace opserve::server
