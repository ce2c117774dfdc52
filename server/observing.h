// What flags say of observing the server.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace opserve::server {

// Whether channelz, which tells whoever asks of all clients, may be served on these addresses.
absl::Status CheckChannelz(const std::vector<std::string>& addresses);

}  // namespace opserve::server
