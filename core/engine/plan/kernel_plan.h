// What a planned call needs on its device: the kernel, the memory, the cost.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "core/engine/plan/plan.h"

namespace opserve {

// Fills these in. For a call of a program, `made` is its operator, and the plan keeps it alive.
// UNIMPLEMENTED: the device has no kernel for an operator.
absl::Status PlanKernel(Plan& plan, std::shared_ptr<const Operator> made = nullptr);

// Where control memory begins behind the workspace, in one lease.
size_t ControlOffset(const Plan& plan);
// Bytes of workspace and control memory in one lease.
size_t ScratchBytes(const Plan& plan);

}  // namespace opserve
