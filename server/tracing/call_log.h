// The lines about calls in the server's log.
#pragma once

#include <array>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "core/base/clock.h"
#include "core/base/op_error.h"
#include "server/log/log.h"
#include "server/tracing/call_record.h"

namespace opserve::server {

// One line a call: at level debug; of one that failed, at level info, or error where the fault is
// the server's or a device's. Lines are bounded, each error's by itself, so that a client which
// makes one mistake again and again hides no other: beyond so many a second they are counted, and
// the next one has the count (left_out). Never in a line: bytes of tensors, values of attributes,
// metadata besides the trace's id. Thread-safe.
class CallLog {
 public:
  static constexpr int kCallsPerSecond = 1000;

  explicit CallLog(const Clock& clock = Clock::Real());

  // Whether calls that succeed have lines.
  static bool IsVerbose() { return LogEnabled(LogLevel::kDebug); }

  // Asks `describe` for the call only where the line is to be written.
  void Write(const absl::Status& status, absl::FunctionRef<CallRecord()> describe);

 private:
  LimitedLog& LimitOf(const absl::Status& status);

  LimitedLog calls_;
  std::array<LimitedLog, kNumErrorReasons> errors_;
};

}  // namespace opserve::server
