// What `run`, `plan` and `bench` make of the texts of a call.
#pragma once

#include <span>
#include <string>

#include <opserve/client.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/commands/arguments.h"
#include "client/cli/commands/commands.h"

namespace opserve::cli {

// The schema of `op`, from the server.
absl::StatusOr<client::OperatorSchema> FetchSchema(const std::string& op, const Remote& remote);

// Each reads texts and puts what they mean into `call`. Mistakes are UsageErrors.
absl::Status AddAttributes(std::span<const NamedText> attributes,
                           const client::OperatorSchema& schema, client::Call& call);
absl::Status AddDTypes(std::span<const NamedText> outputs, client::Call& call);

}  // namespace opserve::cli
