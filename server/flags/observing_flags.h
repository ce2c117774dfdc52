// The flags of what the server tells of itself: to gRPC's tools, to balancers and in its log.
#pragma once

#include "server/flags/config.h"
#include "server/flags/flag_set.h"

namespace opserve::server {

// Those that set `config`, which must outlive the parsing.
void AddObservingFlags(FlagSet& flags, ServerConfig& config);
void AddLogFlags(FlagSet& flags, ServerConfig& config);

}  // namespace opserve::server
