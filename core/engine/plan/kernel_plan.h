// What follows from a planned call and a device: the kernel, what it takes, what it costs.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "core/engine/plan/plan.h"

namespace opserve {

// Fills that in. `made` is the call's operator where that is a program, which the plan keeps.
// UNIMPLEMENTED: the device has no kernel for an operator.
absl::Status PlanKernel(Plan& plan, std::shared_ptr<const Operator> made = nullptr);

// Where control memory begins behind the workspace, in one lease.
size_t ControlOffset(const Plan& plan);
// Bytes of workspace and control memory in one lease.
size_t ScratchBytes(const Plan& plan);

}  // namespace opserve
