// The sockets that the server listens on.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/unique_fd.h"

namespace opserve::server {

struct Listener {
  UniqueFd socket;  // bound and listening, non-blocking
  bool is_unix = false;
  bool speaks_tls = false;
};

struct Listening {
  std::vector<Listener> listeners;  // one for each address that the name stands for
  std::string address;              // as clients dial it: with the port that was taken for port 0
};

// Binds one --listen address, "host:port" or "unix:path". A name may stand for several addresses
// ("localhost" for 127.0.0.1 and ::1): all that this machine has, on one port. A unix socket has
// the permissions `unix_mode` before anybody can connect to it. 161002 naming `flag`, with the
// system's reason.
absl::StatusOr<Listening> Listen(const std::string& address, mode_t unix_mode,
                                 std::string_view flag = "--listen");

}  // namespace opserve::server
