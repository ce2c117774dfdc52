// Clients that keep gRPC's threads busy with frames: empty ones, header blocks without an end,
// large headers without messages, and messages in small pieces.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "server/connections/connection_table.h"
#include "server/connections/frame_scan.h"

namespace opserve::server {

// Looks at what gRPC has not read yet of the connections where that is much. Not thread-safe.
class FrameWatch {
 public:
  // The table must outlive it.
  explicit FrameWatch(const ConnectionTable& connections);

  // To be called about every 100 ms: ends the connections that bring floods.
  void Check();

 private:
  // Of a connection, when small messages were seen in it first.
  struct Mark {
    int64_t read_bytes = 0;     // that gRPC had read
    int64_t message_bytes = 0;  // of those, in messages that were whole
  };
  using Marks = absl::flat_hash_map<std::shared_ptr<Connection>, Mark>;

  // What lies unread in it; kNone where that is little.
  FrameFlood LookAt(const Connection& connection, int64_t unread_bytes);
  // Whether what looks like small messages are pieces of one, as gRPC has read more of them than it
  // may keep unasked and passed few on. Not known of a unix socket, whose bytes the kernel does not
  // count.
  bool AreNoMessages(const std::shared_ptr<Connection>& connection, int64_t unread_bytes,
                     Marks& marks) const;

  const ConnectionTable& connections_;
  std::string bytes_;
  Marks marks_;  // of connections where the last look saw small messages
};

}  // namespace opserve::server
