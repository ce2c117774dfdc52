#include "server/watchdog.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "core/base/clock.h"
#include "core/base/thread.h"
#include "server/log/log.h"

namespace opserve::server {

Watchdog::Watchdog() : thread_(StartThread("the thread of the watchdog", [this] { Run(); })) {}

Watchdog::~Watchdog() {
  {
    const MutexLock lock(mutex_);
    over_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void Watchdog::Set(absl::Duration time, int status, std::string reason) {
  {
    const MutexLock lock(mutex_);
    deadline_ = Clock::Real().Now() + time;
    status_ = status;
    reason_ = std::move(reason);
  }
  changed_.NotifyAll();
}

void Watchdog::Run() {
  const MutexLock lock(mutex_);
  while (!over_) {
    const absl::Duration left = deadline_ - Clock::Real().Now();
    if (left <= absl::ZeroDuration()) {
      Log(status_ == 0 ? LogLevel::kInfo : LogLevel::kError, "ended by the watchdog",
          {{"reason", reason_}});
      ::_exit(status_);
    }
    if (deadline_ == absl::InfiniteFuture()) {
      changed_.Wait(mutex_);
    } else {
      changed_.WaitFor(mutex_, absl::ToChronoNanoseconds(left));
    }
  }
}

}  // namespace opserve::server
