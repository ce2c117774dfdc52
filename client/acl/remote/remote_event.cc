#include "client/acl/remote/remote_event.h"

#include <utility>

#include "core/base/clock.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::acl {
namespace {

template <typename T>
absl::StatusOr<T> Answer(ServerSession& session, absl::StatusOr<T> answer) {
  if (answer.ok()) return answer;
  return session.Told(answer.status());
}

}  // namespace

absl::StatusOr<bool> RemoteEvent::Query() {
  OPSERVE_RETURN_IF_ERROR(CheckRecorded());
  const Loans before = loans();
  OPSERVE_ASSIGN_OR_RETURN(const bool reached, Answer(session_, event_.Query()));
  return reached && before.AwaitReturn(absl::InfinitePast());
}

absl::StatusOr<bool> RemoteEvent::Await(absl::Duration timeout) {
  OPSERVE_RETURN_IF_ERROR(CheckRecorded());
  const Loans before = loans();
  const absl::Time latest = Clock::Real().Now() + timeout + kLastWord;
  const absl::Status status = event_.Synchronize({.timeout = timeout});
  if (status.ok()) return before.AwaitReturn(latest);
  if (!absl::IsDeadlineExceeded(status)) return session_.Told(status);
  const absl::StatusOr<bool> reached = event_.Query({.timeout = kLastWord});
  if (reached.ok()) return *reached && before.AwaitReturn(latest);
  OPSERVE_RETURN_IF_ERROR(session_.CheckAlive());
  if (absl::IsDeadlineExceeded(reached.status())) return false;
  return reached.status();
}

absl::StatusOr<absl::Duration> RemoteEvent::TimeUntil(const ProvidedEvent& end) const {
  const auto& other = static_cast<const RemoteEvent&>(end);
  OPSERVE_RETURN_IF_ERROR(CheckRecorded());
  OPSERVE_RETURN_IF_ERROR(other.CheckRecorded());
  return Answer(session_, event_.TimeUntil(other.event_));
}

void RemoteEvent::RecordOn(client::Stream& stream, Loans loans) {
  {
    const MutexLock lock(mutex_);
    loans_ = std::move(loans);
  }
  stream.Record(event_);
  recorded_ = true;
}

Loans RemoteEvent::loans() const {
  const MutexLock lock(mutex_);
  return loans_;
}

absl::Status RemoteEvent::HoldUp(client::Stream& stream) const {
  OPSERVE_RETURN_IF_ERROR(CheckRecorded());
  stream.Wait(event_);
  return absl::OkStatus();
}

absl::Status RemoteEvent::CheckRecorded() const {
  if (recorded_) return absl::OkStatus();
  return InvalidParameter("event", "one that was recorded", "one that never was");
}

}  // namespace opserve::acl
