// Which of this machine's users makes a call, for memory that is shared with that user alone.
#pragma once

#include "absl/status/statusor.h"
#include "server/connections/connection_table.h"
#include "server/shared_memory/named_region_table.h"
#include "server/transport/unary/gate.h"

namespace opserve::server {

// RequireLocalUser's errors.
absl::StatusOr<LocalUser> LocalUserOf(const ConnectionTable& connections, const Caller& caller);

}  // namespace opserve::server
