// Where a server listens, and who may open its unix sockets.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace opserve::server {

// OK for "unix:PATH", a path that fits a socket's address. Errors (161002) name `flag`.
absl::Status CheckUnixAddress(std::string_view address, std::string_view flag);

// OK for such an address, "host:port", "[v6]:port" with 0 <= port
// <= 65535. Errors (161002) name --listen.
absl::Status CheckListenAddress(std::string_view address);

// Where HTTP is served: "host:port" or "[v6]:port" as it is, a port by itself on localhost. Errors
// (161002) name --http.
absl::StatusOr<std::string> ParseHttpAddress(std::string_view text);

// Of each, and that none is there twice.
absl::Status CheckListenAddresses(const std::vector<std::string>& addresses);

// In octal; the server's own user must be able to connect, which takes reading and writing. Errors
// (161002) name --unix-socket-mode.
absl::StatusOr<mode_t> ParseSocketMode(const std::string& text);

// As ParseSocketMode reads it: "0600".
std::string FormatSocketMode(mode_t mode);

}  // namespace opserve::server
