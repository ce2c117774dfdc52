// Something that happens once, for tests to wait for.
#pragma once

#include <chrono>

#include "core/base/mutex.h"

namespace opserve::testing {

class Signal {
 public:
  void Notify() {
    MutexLock lock(mutex_);
    notified_ = true;
    changed_.NotifyAll();
  }
  void Wait() {
    MutexLock lock(mutex_);
    while (!notified_) changed_.Wait(mutex_);
  }
  // Whether it happens within `time`.
  bool WaitFor(std::chrono::nanoseconds time) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + time;
    MutexLock lock(mutex_);
    while (!notified_ && Clock::now() < end) changed_.WaitFor(mutex_, end - Clock::now());
    return notified_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool notified_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace opserve::testing
