// How many connections the server may have, and what they may do.
#pragma once

#include "absl/status/statusor.h"
#include "server/connections/connection_table.h"
#include "server/flags/config.h"

namespace opserve::server {

// Lets the process have as many descriptors as it may, and leaves some of them for what else takes
// them. 161002 naming --max-connections where that wants more than there are.
absl::StatusOr<ConnectionLimits> LimitsOf(const ServerConfig& config);

}  // namespace opserve::server
