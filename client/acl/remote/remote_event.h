// Events of a session, as the C interface sees them.
#pragma once

#include <atomic>
#include <utility>

#include <opserve/session.h>

#include "client/acl/provider/provider.h"
#include "client/acl/remote/server_session.h"

namespace opserve::acl {

// How long a server that was too late may take to say what it has reached.
inline constexpr absl::Duration kLastWord = absl::Seconds(1);

// Whether `event` is reached within `timeout`. One that the server has reached by then counts, also
// when the answer comes within a second more.
absl::StatusOr<bool> AwaitEvent(ServerSession& session, const client::Event& event,
                                absl::Duration timeout);

class RemoteEvent final : public ProvidedEvent {
 public:
  RemoteEvent(ServerSession& session, client::Event event)
      : session_(session), event_(std::move(event)) {}

  absl::StatusOr<bool> Query() override;
  absl::StatusOr<bool> Await(absl::Duration timeout) override;
  absl::StatusOr<absl::Duration> TimeUntil(const ProvidedEvent& end) const override;

  void RecordOn(client::Stream& stream);
  // 161002 when it was never recorded.
  absl::Status HoldUp(client::Stream& stream) const;

 private:
  absl::Status CheckRecorded() const;

  ServerSession& session_;
  const client::Event event_;
  std::atomic<bool> recorded_{false};
};

}  // namespace opserve::acl
