#include "server/transport/unary/deadline.h"

#include "core/base/op_error.h"

namespace opserve::server {

absl::Time OnClock(gpr_timespec time, const Clock& clock) {
  if (gpr_time_cmp(time, gpr_inf_future(time.clock_type)) == 0) return absl::InfiniteFuture();
  const gpr_timespec left = gpr_time_sub(time, gpr_now(time.clock_type));
  return clock.Now() + absl::Seconds(left.tv_sec) + absl::Nanoseconds(left.tv_nsec);
}

absl::Time DeadlineOf(const grpc::CallbackServerContext& context, const Clock& clock) {
  return OnClock(context.raw_deadline(), clock);
}

absl::Status WhyCancelled(const grpc::CallbackServerContext& context) {
  const bool expired = DeadlineOf(context, Clock::Real()) <= Clock::Real().Now();
  return MakeError({.reason = expired ? ErrorReason::kDeadlineExceeded : ErrorReason::kCancelled});
}

gpr_timespec TimeFromNow(absl::Duration wait) {
  if (wait == absl::InfiniteDuration()) return gpr_inf_future(GPR_CLOCK_MONOTONIC);
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_nanos(absl::ToInt64Nanoseconds(wait), GPR_TIMESPAN));
}

}  // namespace opserve::server
