// The connections of an HTTP port: which one must go when there are too many, or it takes too long.
#pragma once

#include <cstddef>
#include <list>
#include <optional>

#include <sys/types.h>

#include "absl/time/time.h"
#include "core/base/client_id.h"

namespace opserve::server {

// Not thread-safe.
class HttpConnections {
 public:
  struct Connection {
    int socket = -1;  // somebody else's; open as long as this is in the table
    ClientId client = ClientId::kNone;
    absl::Time since;  // it came, or its last request was over, or the answer to one began to leave
    absl::Duration extra;     // time for bytes that its request or its answer has
    bool is_waiting = false;  // for an answer that is not known yet
    bool is_cut = false;
    std::optional<std::optional<uid_t>> user = {};  // once it was asked
  };

  // The reference is good until Remove.
  Connection& Add(int socket, ClientId client, absl::Time now);
  void Remove(const Connection& connection);

  size_t size() const { return connections_.size(); }

  // Shuts the one down that has gone longest without a whole request, of the client that has most:
  // so that one client that holds many keeps out nobody else. Never one that waits.
  void CutOne();
  // Shuts those down that have gone without a whole request since `before` and their extra time,
  // and do not wait.
  void CutThoseSince(absl::Time before);
  // Likewise, those whose clients send nothing more: an answer that is still on its way is lost.
  void CutThoseLeftSince(absl::Time before);

 private:
  size_t CountOf(ClientId client) const;

  std::list<Connection> connections_;
};

}  // namespace opserve::server
