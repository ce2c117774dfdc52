// opserve.v1.Program to and from core.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "core/engine/plan/program_plan.h"
#include "core/program/program.h"
#include "opserve/v1/operator_service.pb.h"
#include "opserve/v1/types.pb.h"

namespace opserve::server {

// The program of a call that has one, with the names of its inputs. Errors: 161001, 161002 naming
// the step and its parameter; NOT_FOUND for an operator; Program::Make's.
absl::StatusOr<std::shared_ptr<const Program>> DecodeProgram(const v1::Call& call);

// Of a plan that has a program.
void EncodeProgramPlan(const Plan& plan, v1::ProgramPlan& out);

}  // namespace opserve::server
