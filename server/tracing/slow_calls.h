// The calls that took long, the newest of them.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"
#include "server/tracing/call_record.h"

namespace opserve::server {

// Thread-safe. Takes up to some 400 KiB.
class SlowCalls {
 public:
  static constexpr size_t kMostKept = 512;

  // Keeps those that took `least` or longer, from their beginning until the transport was done with
  // them; none where it is 0.
  explicit SlowCalls(absl::Duration least) : least_(least) {}

  bool keeps_any() const { return least_ > absl::ZeroDuration(); }
  // A call that is over.
  void Add(const CallRecord& call);
  // In the order in which they ended.
  std::vector<CallRecord> Kept() const;

 private:
  const absl::Duration least_;
  mutable Mutex mutex_;
  std::vector<CallRecord> ring_ ABSL_GUARDED_BY(mutex_);
  size_t oldest_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace opserve::server
