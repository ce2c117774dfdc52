#include "server/counters/exemplars.h"

#include <algorithm>

namespace opserve::server {

bool Exemplars::MayLook(size_t method, absl::Duration took, absl::Time now) {
  if (!is_on_.load(std::memory_order_relaxed)) return false;
  constexpr int64_t kEveryNs = 1'000'000'000 / kLooksPerSecond;
  const int64_t now_ns = absl::ToUnixNanos(now);
  std::atomic<int64_t>& due_ns = due_ns_[method][DurationBucket(took)];
  int64_t due = due_ns.load(std::memory_order_relaxed);
  if (due > now_ns + (kLooksAtOnce - 1) * kEveryNs) return false;
  // Another call that comes at the same time is looked at instead.
  return due_ns.compare_exchange_strong(due, std::max(due, now_ns) + kEveryNs,
                                        std::memory_order_relaxed);
}

void Exemplars::Keep(TimedPart part, std::string_view of, const Exemplar& exemplar) {
  const MutexLock lock(mutex_);
  kept_.insert_or_assign({part, of, DurationBucket(exemplar.value)}, exemplar);
}

ExemplarMap Exemplars::Kept() const {
  const MutexLock lock(mutex_);
  return kept_;
}

}  // namespace opserve::server
