// `opserve tutorial`: the command, shown by its own commands.
#pragma once

#include "absl/status/status.h"
#include "client/cli/commands/arguments.h"

namespace opserve::cli {

// Goes through the steps, on a server of its own or on the one that `arguments` name. The other
// options that are the same for all commands hold for the command of each step. Files are in a new
// folder for temporary files; the folder and the server are gone when this returns. Stops at the
// first error that no step has on purpose. For the thread of main.
absl::Status RunTutorial(const Arguments& arguments);

}  // namespace opserve::cli
