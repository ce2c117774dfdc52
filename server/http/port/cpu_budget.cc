#include "server/http/port/cpu_budget.h"

#include <algorithm>

namespace opserve::server {

absl::Duration CpuBudget::Rest(absl::Time now) {
  const absl::Duration passed = std::max(now - reckoned_, absl::ZeroDuration());
  reckoned_ = std::max(now, reckoned_);
  left_ = std::min(left_ + share_ * passed, burst_);
  return left_ < absl::ZeroDuration() ? -left_ / share_ : absl::ZeroDuration();
}

}  // namespace opserve::server
