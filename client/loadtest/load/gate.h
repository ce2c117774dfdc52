// Whether a load may send another message.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"

namespace opserve::loadtest {

// Open until it is closed, or until it has let through as many messages as it may. Thread-safe.
class Gate {
 public:
  // False once it is closed.
  bool Enter() {
    if (closed_.load(std::memory_order_acquire)) return false;
    if (!counts_.load(std::memory_order_acquire)) return true;
    const int64_t left = left_.fetch_sub(1);
    if (left <= 1) Close();
    return left > 0;
  }

  // From now on `messages` may pass; any number when it is 0.
  void Count(int64_t messages) {
    left_ = messages;
    counts_ = messages > 0;
  }

  void Close() {
    const MutexLock lock(mutex_);
    closed_ = true;
    changed_.NotifyAll();
  }

  bool closed() const { return closed_.load(std::memory_order_acquire); }

  // Returns whether it is closed, once it is or at `deadline`.
  bool WaitUntilClosed(absl::Time deadline) {
    const MutexLock lock(mutex_);
    while (!closed_ && WaitUntil(deadline, changed_, mutex_)) {
    }
    return closed_;
  }

 private:
  std::atomic<bool> closed_ = false;
  std::atomic<bool> counts_ = false;
  std::atomic<int64_t> left_ = 0;
  Mutex mutex_;
  CondVar changed_;
};

}  // namespace opserve::loadtest
