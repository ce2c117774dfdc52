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

// Channelz shows every client's connections to every caller: OK only if all addresses are local.
absl::Status CheckChannelz(const std::vector<std::string>& addresses);

}  // namespace opserve::server
