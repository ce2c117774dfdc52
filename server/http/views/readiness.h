// Whether the server is to be sent calls, and why not.
#pragma once

#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "core/base/mutex.h"

namespace opserve::server {

// Not ready at first ("the server is starting"). Thread-safe.
class Readiness {
 public:
  void SetReady();
  // For good: what is said of it stays.
  void AddReason(std::string why);

  // Why it is not ready; empty when it is.
  std::vector<std::string> reasons() const;

 private:
  mutable Mutex mutex_;
  bool is_starting_ ABSL_GUARDED_BY(mutex_) = true;
  std::vector<std::string> reasons_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::server
