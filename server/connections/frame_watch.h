// Clients that keep gRPC's threads busy with frames: empty ones, header blocks without an end, and
// large headers without messages.
#pragma once

#include <string>

#include "server/connections/connection_table.h"

namespace opserve::server {

// Looks at what gRPC has not read yet of the connections where that is much. Not thread-safe.
class FrameWatch {
 public:
  // The table must outlive it.
  explicit FrameWatch(const ConnectionTable& connections);

  // To be called about every 100 ms: ends the connections that bring floods.
  void Check();

 private:
  const ConnectionTable& connections_;
  std::string bytes_;
};

}  // namespace opserve::server
