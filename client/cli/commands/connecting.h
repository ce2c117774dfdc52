// What the command line says of the connection, with the files that it names.
#pragma once

#include <opserve/client.h>

#include "absl/status/statusor.h"
#include "client/cli/commands/arguments.h"

namespace opserve::cli {

// Errors name the flag, or the path.
absl::StatusOr<client::ConnectOptions> ConnectOptionsOf(const Arguments& arguments);

}  // namespace opserve::cli
