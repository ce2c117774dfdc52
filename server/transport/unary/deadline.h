// gRPC's deadlines on a clock of ours. What remains of one counts, so nobody who sets the wall
// clock moves it.
#pragma once

#include <grpc/support/time.h>
#include <grpcpp/server_context.h>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/clock.h"

namespace opserve::server {

// When `clock` will say that `time` has come; gRPC's infinite future is ours. `time` is one of
// gRPC's times, not a span.
absl::Time OnClock(gpr_timespec time, const Clock& clock);

// When `clock` will say that the call is late; InfiniteFuture for one without a deadline.
absl::Time DeadlineOf(const grpc::CallbackServerContext& context, const Clock& clock);

// Of a call that gRPC has cancelled, as it also does when the deadline has passed:
// DEADLINE_EXCEEDED or CANCELLED.
absl::Status WhyCancelled(const grpc::CallbackServerContext& context);

// For gRPC: so long from now. InfiniteDuration is gRPC's infinite future.
gpr_timespec TimeFromNow(absl::Duration wait);

}  // namespace opserve::server
