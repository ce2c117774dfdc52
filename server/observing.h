// What flags say of observing the server, made into its parts.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/flags/config.h"
#include "server/tracing/call_observer.h"

namespace opserve::server {

// Throws ThreadError.
ObserverOptions ObserverOptionsOf(const TracingConfig& config);

// Whether channelz, which tells whoever asks of all clients, may be served on these addresses.
absl::Status CheckChannelz(const std::vector<std::string>& addresses);

}  // namespace opserve::server
