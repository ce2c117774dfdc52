// `opserve run --session`.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <opserve/call.h>

#include "absl/status/statusor.h"
#include "client/cli/commands/commands.h"
#include "client/cli/output/progress.h"

namespace opserve::cli {

// What an operator says of its element-wise calls.
enum class Chunks : uint8_t { kNo, kMay };

// Runs `call` on a session: its inputs are uploaded, phase one tells the workspace, phase two runs,
// and the outputs come back in pieces. A call whose inputs are larger than a message goes through
// the server chunk by chunk, if it can. Outputs with a file (name → path) are written to
// it and are without bytes in the result.
absl::StatusOr<client::ExecuteResult> RunOnSession(const client::Call& call, Chunks chunks,
                                                   const Remote& remote,
                                                   const std::map<std::string, std::string>& files,
                                                   Progress progress);

}  // namespace opserve::cli
