#include "server/tracing/slow_calls.h"

namespace opserve::server {

void SlowCalls::Add(const CallRecord& call) {
  if (!keeps_any() || call.phases.ended - call.phases.begun < least_) return;
  const MutexLock lock(mutex_);
  if (ring_.size() < kMostKept) {
    ring_.push_back(call);
    return;
  }
  ring_[oldest_] = call;
  oldest_ = (oldest_ + 1) % kMostKept;
}

std::vector<CallRecord> SlowCalls::Kept() const {
  const MutexLock lock(mutex_);
  std::vector<CallRecord> kept;
  kept.reserve(ring_.size());
  for (size_t i = 0; i < ring_.size(); ++i) kept.push_back(ring_[(oldest_ + i) % ring_.size()]);
  return kept;
}

}  // namespace opserve::server
