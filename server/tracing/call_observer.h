// What becomes of calls besides their answers and the counters.
#pragma once

#include "core/base/clock.h"
#include "server/tracing/call_log.h"

namespace opserve::server {

// Thread-safe.
class CallObserver {
 public:
  explicit CallObserver(const Clock& clock = Clock::Real()) : clock_(clock), log_(clock) {}

  // Whether anybody may want to know of a call that begins now: where not, a call costs this.
  bool IsWatching() const { return CallLog::IsVerbose(); }

  CallLog& log() { return log_; }
  const Clock& clock() const { return clock_; }

 private:
  const Clock& clock_;
  CallLog log_;
};

}  // namespace opserve::server
