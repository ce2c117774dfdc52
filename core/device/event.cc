#include "core/device/event.h"

#include <utility>

#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve {

void Marker::Reach(absl::Time now) {
  std::vector<absl::AnyInvocable<void()>> callbacks;
  {
    MutexLock lock(mutex_);
    time_ = now;
    callbacks.swap(callbacks_);
  }
  for (absl::AnyInvocable<void()>& callback : callbacks) callback();
}

bool Marker::reached() const { return time() != absl::InfiniteFuture(); }

absl::Time Marker::time() const {
  MutexLock lock(mutex_);
  return time_;
}

void Marker::OnReached(absl::AnyInvocable<void()> callback) {
  {
    MutexLock lock(mutex_);
    if (time_ == absl::InfiniteFuture()) {
      callbacks_.push_back(std::move(callback));
      return;
    }
  }
  callback();
}

void Event::Publish(std::shared_ptr<Marker> marker) {
  MutexLock lock(mutex_);
  latest_ = std::move(marker);
}

absl::StatusOr<std::shared_ptr<Marker>> Event::Latest() const {
  MutexLock lock(mutex_);
  if (latest_ != nullptr) return latest_;
  return InvalidParameter("event", "an event that was recorded", "one that never was");
}

absl::StatusOr<bool> Event::Query() const {
  OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<Marker> latest, Latest());
  return latest->reached();
}

absl::StatusOr<absl::Duration> ElapsedTime(const Event& start, const Event& end) {
  OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<Marker> first, start.Latest());
  OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<Marker> last, end.Latest());
  if (!first->reached() || !last->reached()) {
    return InvalidParameter("event", "an event that its stream has reached",
                            "one that it has not reached yet");
  }
  return last->time() - first->time();
}

}  // namespace opserve
