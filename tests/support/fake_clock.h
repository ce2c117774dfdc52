// A clock that stands still until it is moved.
#pragma once

#include "core/base/clock.h"
#include "core/base/mutex.h"

namespace opserve::testing {

class FakeClock final : public Clock {
 public:
  absl::Time Now() const override {
    MutexLock lock(mutex_);
    return now_;
  }
  void Advance(absl::Duration duration) {
    MutexLock lock(mutex_);
    now_ += duration;
  }

 private:
  mutable Mutex mutex_;
  absl::Time now_ ABSL_GUARDED_BY(mutex_) = absl::FromUnixSeconds(1'000'000);
};

}  // namespace opserve::testing
