// The flags of opserve-server.
#pragma once

#include "server/flags/config.h"
#include "server/flags/flag_set.h"

namespace opserve::server {

// Those that set `config`, which must outlive the parsing.
void AddServerFlags(FlagSet& flags, ServerConfig& config);

}  // namespace opserve::server
