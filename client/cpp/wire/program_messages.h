// Programs in the messages of opserve.v1.
#pragma once

#include <opserve/program.h>

#include "absl/status/statusor.h"
#include "opserve/v1/operator_service.pb.h"
#include "opserve/v1/types.pb.h"

namespace opserve::client {

void FillProgram(const Program& program, v1::Program& message);

// Of a message that the server sent: INTERNAL for a constant whose layout does not go with its
// values.
absl::StatusOr<ProgramPlan> ReadProgramPlan(const v1::ProgramPlan& message);

}  // namespace opserve::client
