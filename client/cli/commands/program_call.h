// What `run`, `plan` and the commands of `program` call: an operator, or a program from a file.
#pragma once

#include <optional>
#include <string>

#include <opserve/client.h>

#include "absl/status/statusor.h"
#include "client/cli/commands/arguments.h"
#include "client/cli/commands/commands.h"

namespace opserve::cli {

struct Callee {
  // Of a program: its name and its outputs.
  client::OperatorSchema schema;
  std::optional<client::Program> program;

  client::Call NewCall() const {
    return program.has_value() ? client::Call(*program) : client::Call(schema.name);
  }
};

// The operator that `arguments` name, or the program in their file, with the gradients that they
// ask for; the schemas are the server's. Mistakes are UsageErrors that name the step.
absl::StatusOr<Callee> FindCallee(const Arguments& arguments, const Remote& remote);

}  // namespace opserve::cli
