// The one session that a process has with its server.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <opserve/session.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/acl/remote/lent_memory.h"

namespace opserve::acl {

// How long a server may take until all is open that a process has there.
inline constexpr absl::Duration kPatience = absl::Seconds(20);

// What is left until then.
absl::Duration Until(absl::Time deadline);

// Thread-safe. Must outlive all that is made with it but for buffers.
class ServerSession {
 public:
  // Dials the server. 161002 naming OPSERVE_TARGET for what is no target; else what became of it,
  // saying so.
  static absl::StatusOr<std::unique_ptr<ServerSession>> Open(const std::string& target,
                                                             absl::Time deadline);

  ServerSession(std::string target, std::vector<client::Device> devices, client::Session session)
      : target_(std::move(target)), devices_(std::move(devices)), session_(std::move(session)) {}
  // Ends the session, within seconds.
  ~ServerSession();
  ServerSession(const ServerSession&) = delete;
  ServerSession& operator=(const ServerSession&) = delete;

  const std::vector<client::Device>& devices() const { return devices_; }
  client::Session& session() { return session_; }
  // What the transport reads for any stream.
  const std::shared_ptr<LentMemory>& lent() const { return lent_; }

  // OK while the session goes on. Then UNAVAILABLE, saying why, and no host memory is read or
  // written for the session any more.
  absl::Status CheckAlive();
  // What to tell of the failure of a command: that the session is over, where it is.
  absl::Status Told(absl::Status status);

 private:
  const std::string target_;
  const std::vector<client::Device> devices_;
  client::Session session_;
  const std::shared_ptr<LentMemory> lent_ = std::make_shared<LentMemory>();
};

}  // namespace opserve::acl
