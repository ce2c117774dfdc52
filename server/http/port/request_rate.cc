#include "server/http/port/request_rate.h"

#include <algorithm>

namespace opserve::server {
namespace {

// Above it those that have rested are forgotten: nobody asks from as many addresses by accident.
constexpr size_t kManyClients = 256;
// Above it newcomers are refused.
constexpr absl::Duration kBetweenForgettings = absl::Milliseconds(100);
constexpr size_t kMostClients = 4096;

}  // namespace

double RequestRate::LeftAt(const Allowance& allowance, absl::Time now) const {
  const absl::Duration passed = std::max(now - allowance.reckoned, absl::ZeroDuration());
  return std::min(burst_, allowance.left + per_second_ * absl::ToDoubleSeconds(passed));
}

void RequestRate::ForgetRested(absl::Time now) {
  // Also after a clock that was set back.
  if (absl::AbsDuration(now - last_forgetting_) < kBetweenForgettings) return;
  last_forgetting_ = now;
  absl::erase_if(allowances_,
                 [&](const auto& entry) { return LeftAt(entry.second, now) >= burst_; });
}

bool RequestRate::Admit(ClientId client, absl::Time now) {
  if (allowances_.size() >= kManyClients) ForgetRested(now);
  if (allowances_.size() >= kMostClients && !allowances_.contains(client)) return false;
  Allowance& allowance =
      allowances_.try_emplace(client, Allowance{.left = burst_, .reckoned = now}).first->second;
  allowance = {.left = LeftAt(allowance, now), .reckoned = now};
  if (allowance.left < 1) return false;
  allowance.left -= 1;
  return true;
}

}  // namespace opserve::server
