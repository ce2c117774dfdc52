#include <opserve/resident_session.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/transport/retried_call.h"
#include "core/base/clock.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/waiter.h"

namespace opserve::client {
namespace {

// Whether the session is lost with its server.
bool IsLost(const Session& session) {
  return session.status().code() == absl::StatusCode::kUnavailable;
}

absl::Status Check(const ReconnectOptions& options) {
  if (options.tries < 1) return OutOfRange("tries", ">= 1", absl::StrCat(options.tries));
  if (options.timeout > absl::ZeroDuration()) return absl::OkStatus();
  return OutOfRange("timeout", "> 0", absl::FormatDuration(options.timeout));
}

}  // namespace

absl::StatusOr<ResidentSession> ResidentSession::Open(Client client, Rebuild rebuild,
                                                      ReconnectOptions options) {
  OPSERVE_RETURN_IF_ERROR(Check(options));
  ResidentSession resident(std::move(client), std::move(rebuild), std::move(options));
  OPSERVE_RETURN_IF_ERROR(resident.OpenAnew());
  return resident;
}

absl::Status ResidentSession::Run(Work work) {
  absl::Status status;
  for (int tried = 0; tried < options_.tries; ++tried) {
    if (IsLost(*session_) || session_->draining()) OPSERVE_RETURN_IF_ERROR(Reconnect());
    status = work(*session_);
    if (status.ok() || !IsLost(*session_)) return status;
  }
  return status;
}

absl::Status ResidentSession::Reconnect() {
  OPSERVE_RETURN_IF_ERROR(OpenAnew());
  ++reconnects_;
  return absl::OkStatus();
}

absl::StatusOr<Session> ResidentSession::TryOnce(absl::Time deadline) {
  SessionOptions options = options_.session ? options_.session() : SessionOptions();
  options.start_timeout = std::min(options.start_timeout, deadline - Clock::Real().Now());
  OPSERVE_ASSIGN_OR_RETURN(Session session, client_.OpenSession(std::move(options)));
  absl::Status built = rebuild_(session);
  if (built.ok()) return session;
  // What the session ended with says whether to try again; what the building says may be less.
  return IsLost(session) ? session.status() : built;
}

absl::Status ResidentSession::OpenAnew() {
  const absl::Time deadline = Clock::Real().Now() + options_.timeout;
  for (int number = 1;; ++number) {
    absl::StatusOr<Session> session = TryOnce(deadline);
    if (session.ok()) {
      session_ = *std::move(session);
      return absl::OkStatus();
    }
    const std::optional<absl::Duration> wait = WaitBehind(number, session.status());
    if (!wait.has_value()) return session.status();
    const absl::Time until = Clock::Real().Now() + *wait;
    if (until >= deadline) return session.status();
    (void)Waiter<bool>().Wait(until);  // nothing comes
  }
}

}  // namespace opserve::client
