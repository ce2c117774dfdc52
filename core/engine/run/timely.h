// Whether somebody still waits for what is to run.
#pragma once

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/op_error.h"

namespace opserve {

// Of a OneShot, CallSeries or CallGroup: DEADLINE_EXCEEDED or CANCELLED when it is to be dropped at
// `now`. gRPC cancels a call whose deadline has passed, too.
template <typename Call>
absl::Status CheckTimely(Call& call, absl::Time now) {
  if (now > call.deadline) return MakeError({.reason = ErrorReason::kDeadlineExceeded});
  if (call.cancelled && call.cancelled()) return MakeError({.reason = ErrorReason::kCancelled});
  return absl::OkStatus();
}

}  // namespace opserve
