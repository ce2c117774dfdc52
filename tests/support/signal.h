// Something that happens once, for tests to wait for.
#pragma once

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

 private:
  Mutex mutex_;
  CondVar changed_;
  bool notified_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace opserve::testing
