// A value that one thread waits for and another sets.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"

namespace opserve {

// Copies are the same waiter.
template <typename T>
class Waiter {
 public:
  // Once.
  void Set(T value) const {
    // The waiting thread may destroy this object as soon as the lock is free, so `state` is copied.
    // NotifyAll comes after the unlock, or else the thread would wake only to wait for the lock.
    const std::shared_ptr<State> state = state_;
    {
      const MutexLock lock(state->mutex);
      state->value.emplace(std::move(value));
    }
    state->set.NotifyAll();
  }

  // A copy of the value; nullopt when it is not there by `deadline`.
  std::optional<T> Wait(absl::Time deadline) const {
    State& state = *state_;
    const MutexLock lock(state.mutex);
    while (!state.value.has_value()) {
      if (!WaitUntil(deadline, state.set, state.mutex)) return std::nullopt;
    }
    return state.value;
  }

 private:
  struct State {
    Mutex mutex;
    CondVar set;
    std::optional<T> value ABSL_GUARDED_BY(mutex);
  };

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace opserve
