#include "server/http/inference/running_calls.h"

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/base/op_error.h"

namespace opserve::server {
namespace {

constexpr absl::Duration kTryAgain = absl::Milliseconds(100);

}  // namespace

RunningCalls::~RunningCalls() {
  const MutexLock lock(mutex_);
  while (living_ > 0) ended_.Wait(mutex_);
}

RunningCalls::Life::Life(RunningCalls& of) : of_(of) {
  const MutexLock lock(of_.mutex_);
  ++of_.living_;
}

RunningCalls::Life::~Life() {
  const MutexLock lock(of_.mutex_);
  if (--of_.living_ == 0) of_.ended_.NotifyAll();
}

absl::StatusOr<RunningCalls::Place> RunningCalls::Begin(ClientId client) {
  const MutexLock lock(mutex_);
  if (limit_.Take(client, 1) == SharedLimit::Verdict::kGranted) return Place(*this, client);
  return MakeError({.reason = ErrorReason::kResourceLimit,
                    .op = {},
                    .parameter = "calls by HTTP",
                    .want = absl::StrCat("at most ", limit_.limit(), " at a time, and ",
                                         limit_.MostOf(client), " of one client"),
                    .got = "one more",
                    .retry_after = kTryAgain});
}

void RunningCalls::End(ClientId client) {
  const MutexLock lock(mutex_);
  limit_.Return(client, 1);
}

void RunningCalls::AwaitNone(absl::Duration most) {
  const absl::Time end = Clock::Real().Now() + most;
  const MutexLock lock(mutex_);
  while (living_ > 0) {
    const absl::Duration left = end - Clock::Real().Now();
    if (left <= absl::ZeroDuration()) return;
    ended_.WaitFor(mutex_, absl::ToChronoNanoseconds(left));
  }
}

}  // namespace opserve::server
