// Phase two of a program. Of the engine only.
#pragma once

#include "core/device/device.h"
#include "core/engine/plan/program_plan.h"

namespace opserve {

// Runs the steps, stage by stage, on the memory of a call of the program: `args` are those of a
// kernel that would run it whole. Stops between and within steps. Errors name the step.
absl::Status RunProgram(const ProgramPlan& program, Device& device, const KernelArgs& args);

}  // namespace opserve
