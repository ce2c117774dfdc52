// The file behind a unix: address.
#pragma once

#include <sys/un.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace opserve::server {

// Bytes of a path.
inline constexpr size_t kMaxUnixSocketPath = sizeof(sockaddr_un::sun_path) - 1;

// The path of "unix:PATH" or "unix:///PATH"; empty for any other address.
std::string UnixSocketPath(std::string_view address);

// Makes way for a new socket at `path`: removes one that nobody listens on. Errors (161002, naming
// `flag`): a file that is not a socket (it is left alone), or a socket that a process listens on.
absl::Status RemoveStaleSocket(const std::string& path, std::string_view flag = "--listen");

// Removes what is at `path` if it is a socket.
void RemoveSocket(const std::string& path);

}  // namespace opserve::server
