// Whether somebody still waits for what is to run.
#pragma once

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/op_error.h"

namespace opserve {

// Of a OneShot, CallSeries or CallGroup: CANCELLED or DEADLINE_EXCEEDED when it is to be dropped at
// `now`.
template <typename Call>
absl::Status CheckTimely(Call& call, absl::Time now) {
  if (call.cancelled && call.cancelled()) return MakeError({.reason = ErrorReason::kCancelled});
  if (now > call.deadline) return MakeError({.reason = ErrorReason::kDeadlineExceeded});
  return absl::OkStatus();
}

}  // namespace opserve
