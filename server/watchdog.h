// Ends the process where nothing else does.
#pragma once

#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"

namespace opserve::server {

// Its thread is there from the beginning, so that it needs nothing when it is needed.
class Watchdog {
 public:
  // Throws ThreadError when there is no thread to be had.
  Watchdog();
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Unless it is set again or goes within `time`, ends the process with `status` after a line in
  // the log that has `reason`.
  void Set(absl::Duration time, int status, std::string reason);

 private:
  void Run();

  Mutex mutex_;
  CondVar changed_;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Time deadline_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  int status_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string reason_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace opserve::server
