// How many messages are under way, and a wait for the last.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/clock.h"
#include "core/base/mutex.h"

namespace opserve::loadtest {

// Thread-safe.
class Outstanding {
 public:
  // How many there are now.
  int64_t Add() { return count_.fetch_add(1) + 1; }

  // The last one to leave may find this object gone once it has been told: it notifies under the
  // lock.
  void Remove() {
    const MutexLock lock(mutex_);
    if (count_.fetch_sub(1) == 1) none_.NotifyAll();
  }

  // Whether there is none, at `deadline` at the latest.
  bool WaitForNoneUntil(absl::Time deadline) {
    const MutexLock lock(mutex_);
    while (count_.load() > 0 && WaitUntil(deadline, none_, mutex_)) {
    }
    return count_.load() == 0;
  }

 private:
  std::atomic<int64_t> count_ = 0;
  Mutex mutex_;
  CondVar none_;
};

}  // namespace opserve::loadtest
