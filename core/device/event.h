// A point on a stream that others may wait for.
#pragma once

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"

namespace opserve {

// One recording of an event. It is reached once, when everything before it on the stream has ended,
// with or without an error. Thread-safe.
class Marker {
 public:
  // Called by the stream, once.
  void Reach(absl::Time now);

  bool reached() const;
  // The time of Reach; InfiniteFuture before.
  absl::Time time() const;

  // Calls `callback` once, with no lock held, when the marker is reached: on the thread that calls
  // Reach, or in this call if the marker was reached before.
  void OnReached(absl::AnyInvocable<void()> callback);

 private:
  mutable Mutex mutex_;
  absl::Time time_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  std::vector<absl::AnyInvocable<void()>> callbacks_ ABSL_GUARDED_BY(mutex_);
};

// Recorded on a stream, perhaps more than once. A wait is for the recording that is the latest when
// the wait begins, as in AscendCL. Thread-safe.
class Event {
 public:
  // Sets the latest recording. `marker` must be on its stream already, so that no wait precedes it.
  void Publish(std::shared_ptr<Marker> marker);

  // The latest recording. 161002 naming `event` if there is none, as a wait for it would have no
  // end.
  absl::StatusOr<std::shared_ptr<Marker>> Latest() const;

  // Whether the latest recording was reached. 161002 as above.
  absl::StatusOr<bool> Query() const;

 private:
  mutable Mutex mutex_;
  std::shared_ptr<Marker> latest_ ABSL_GUARDED_BY(mutex_);
};

// From the point of `start` to that of `end`; negative where `end` was reached first. 161002 naming
// the event that was not recorded, or not reached yet.
absl::StatusOr<absl::Duration> ElapsedTime(const Event& start, const Event& end);

}  // namespace opserve
