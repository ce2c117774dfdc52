#include "client/acl/remote/remote_event.h"

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

absl::StatusOr<bool> AwaitEvent(ServerSession& session, const client::Event& event,
                                absl::Duration timeout) {
  const absl::Status status = event.Synchronize({.timeout = timeout});
  if (status.ok()) return true;
  if (!absl::IsDeadlineExceeded(status)) return session.Told(status);
  absl::StatusOr<bool> reached = event.Query({.timeout = kLastWord});
  if (reached.ok()) return reached;
  OPSERVE_RETURN_IF_ERROR(session.CheckAlive());
  if (absl::IsDeadlineExceeded(reached.status())) return false;
  return reached.status();
}

absl::StatusOr<bool> RemoteEvent::Query() {
  OPSERVE_RETURN_IF_ERROR(CheckRecorded());
  return Answer(session_, event_.Query());
}

absl::StatusOr<bool> RemoteEvent::Await(absl::Duration timeout) {
  OPSERVE_RETURN_IF_ERROR(CheckRecorded());
  return AwaitEvent(session_, event_, timeout);
}

absl::StatusOr<absl::Duration> RemoteEvent::TimeUntil(const ProvidedEvent& end) const {
  const auto& other = static_cast<const RemoteEvent&>(end);
  OPSERVE_RETURN_IF_ERROR(CheckRecorded());
  OPSERVE_RETURN_IF_ERROR(other.CheckRecorded());
  return Answer(session_, event_.TimeUntil(other.event_));
}

void RemoteEvent::RecordOn(client::Stream& stream) {
  stream.Record(event_);
  recorded_ = true;
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
