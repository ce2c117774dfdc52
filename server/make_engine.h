// The engine that the server's flags ask for.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "core/engine/engine.h"
#include "server/flags/config.h"

namespace opserve::server {

// Its devices' threads have a lower priority (nice +5) than gRPC's, so that the threads that read
// calls, answer and see that clients are gone get a core at once while others compute. Throws
// ThreadError.
absl::StatusOr<std::unique_ptr<Engine>> MakeEngine(const ServerConfig& config);

}  // namespace opserve::server
