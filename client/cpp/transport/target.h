// What a client can dial.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace opserve::client {

// OK for "host:port", "[v6]:port", "unix:path", and for the names of gRPC's other resolvers, such
// as "dns:///host:port" or "ipv4:1.2.3.4:80", which are left to it. Errors (161002) name `target`:
// without this, gRPC takes a missing port for 443 and one above 65535 for another.
absl::Status CheckTarget(std::string_view target);

}  // namespace opserve::client
