// Waiting for the end of what is on a stream.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "core/base/mutex.h"
#include "core/base/waiter.h"

namespace opserve::acl {

// Keeps a wait that was too short, for the next one while nothing is put on the stream: what polls
// leaves one wait behind, not one each time. Thread-safe.
class StreamEnd {
 public:
  // Something was put on the stream. Call it behind that.
  void Put() { ++put_; }

  // A waiter for the end of all that was put until now: the one that is kept, or one that
  // `begin(waiter)` has set then.
  template <typename Begin>
  Waiter<bool> Await(Begin begin) {
    Waiter<bool> ended;
    {
      const MutexLock lock(mutex_);
      const uint64_t put = put_;
      if (kept_.has_value() && kept_->first == put) return kept_->second;
      kept_.emplace(put, ended);
    }
    begin(ended);
    return ended;
  }

  // The end came in time: keeps nothing.
  void Came() {
    const MutexLock lock(mutex_);
    kept_.reset();
  }

 private:
  std::atomic<uint64_t> put_{0};
  Mutex mutex_;
  std::optional<std::pair<uint64_t, Waiter<bool>>> kept_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::acl
