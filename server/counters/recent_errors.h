// The latest errors that clients were told, for people who look at the server.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/base/op_error.h"

namespace opserve::server {

struct RecentError {
  absl::Time time;          // of the clock
  std::string what;         // "Execute", "a call of ExecuteBatch"
  std::string_view reason;  // as ErrorReasons' names
  std::string message;      // any bytes, as clients may have chosen them
  int64_t left_out = 0;     // errors right before it that were not noted
};

// Thread-safe. Clients may cause errors by the thousand: one in 20 ms is noted, the rest counted
// without a lock.
class RecentErrors {
 public:
  static constexpr size_t kMost = 50;
  static constexpr size_t kMaxMessageBytes = 400;
  static constexpr absl::Duration kInterval = absl::Milliseconds(20);

  // `clock` must outlive it.
  explicit RecentErrors(const Clock& clock = Clock::Real()) : clock_(clock) {}

  void Note(std::string_view what, ErrorReason reason, const absl::Status& status);

  // The newest first; at most kMost.
  std::vector<RecentError> Latest() const;

 private:
  const Clock& clock_;
  std::atomic<int64_t> next_ns_ = INT64_MIN;  // from when on one is noted again
  std::atomic<int64_t> left_out_ = 0;
  mutable Mutex mutex_;
  std::deque<RecentError> errors_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::server
