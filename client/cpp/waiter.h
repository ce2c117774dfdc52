// A value that one thread waits for and another sets.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"

namespace opserve::client {

template <typename T>
class Waiter {
 public:
  // Once.
  void Set(T value) {
    const MutexLock lock(mutex_);
    value_.emplace(std::move(value));
    set_.NotifyAll();
  }

  // A copy of the value; nullopt when it is not there by `deadline`.
  std::optional<T> Wait(absl::Time deadline) {
    const MutexLock lock(mutex_);
    while (!value_.has_value()) {
      if (deadline == absl::InfiniteFuture()) {
        set_.Wait(mutex_);
        continue;
      }
      const absl::Duration left = deadline - absl::Now();
      if (left <= absl::ZeroDuration()) return std::nullopt;
      set_.WaitFor(mutex_, absl::ToChronoNanoseconds(std::min(left, absl::Hours(1))));
    }
    return value_;
  }

 private:
  Mutex mutex_;
  CondVar set_;
  std::optional<T> value_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::client
