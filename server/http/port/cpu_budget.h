// How much of a core one thread may take.
#pragma once

#include "absl/time/time.h"

namespace opserve::server {

// That the calling thread has taken.
absl::Duration ThreadCpuTime();

// So much of the time that passes, and some more at once after a rest. Not thread-safe.
class CpuBudget {
 public:
  // 0 < `share` <= 1, of one core; `burst`, which it has at first, is CPU time.
  CpuBudget(double share, absl::Duration burst, absl::Time now)
      : share_(share), burst_(burst), left_(burst), reckoned_(now) {}

  // CPU time that was taken.
  void Spend(absl::Duration taken) { left_ -= taken; }

  // How long from `now` the thread is to rest; zero for not at all.
  absl::Duration Rest(absl::Time now);

 private:
  const double share_;
  const absl::Duration burst_;
  absl::Duration left_;
  absl::Time reckoned_;
};

}  // namespace opserve::server
