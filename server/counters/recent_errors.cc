#include "server/counters/recent_errors.h"

#include <utility>

#include "core/base/strings.h"

namespace opserve::server {

void RecentErrors::Note(std::string_view what, ErrorReason reason, const absl::Status& status) {
  const absl::Time now = clock_.Now();
  const int64_t now_ns = absl::ToUnixNanos(now);
  int64_t next_ns = next_ns_.load(std::memory_order_relaxed);
  if (now_ns < next_ns ||
      !next_ns_.compare_exchange_strong(next_ns, now_ns + absl::ToInt64Nanoseconds(kInterval))) {
    left_out_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  RecentError error{.time = now,
                    .what = std::string(what),
                    .reason = GetErrorReasonInfo(reason).name,
                    .message = std::string(ToStd(status.message()).substr(0, kMaxMessageBytes)),
                    .left_out = left_out_.exchange(0, std::memory_order_relaxed)};
  const MutexLock lock(mutex_);
  errors_.push_front(std::move(error));
  if (errors_.size() > kMost) errors_.pop_back();
}

std::vector<RecentError> RecentErrors::Latest() const {
  const MutexLock lock(mutex_);
  return {errors_.begin(), errors_.end()};
}

}  // namespace opserve::server
