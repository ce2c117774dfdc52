// Events of a session, as the C interface sees them.
#pragma once

#include <atomic>
#include <utility>

#include <opserve/session.h>

#include "absl/base/thread_annotations.h"
#include "client/acl/provider/provider.h"
#include "client/acl/remote/lent_memory.h"
#include "client/acl/remote/server_session.h"
#include "core/base/mutex.h"

namespace opserve::acl {

// How long a server that was too late may take to say what it has reached.
inline constexpr absl::Duration kLastWord = absl::Seconds(1);

class RemoteEvent final : public ProvidedEvent {
 public:
  RemoteEvent(ServerSession& session, client::Event event)
      : session_(session), event_(std::move(event)) {}

  absl::StatusOr<bool> Query() override;
  // What the server has reached by then counts, also when the answer comes within a second more.
  absl::StatusOr<bool> Await(absl::Duration timeout) override;
  absl::StatusOr<absl::Duration> TimeUntil(const ProvidedEvent& end) const override;

  // `loans`: of what is on the stream, which must have ended before the event is reached.
  void RecordOn(client::Stream& stream, Loans loans);
  // Those of the latest recording.
  Loans loans() const;
  // 161002 when it was never recorded.
  absl::Status HoldUp(client::Stream& stream) const;

 private:
  absl::Status CheckRecorded() const;

  ServerSession& session_;
  const client::Event event_;
  std::atomic<bool> recorded_{false};
  mutable Mutex mutex_;
  Loans loans_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::acl
