// What all paths to a kernel have in common. Of the engine only.
#pragma once

#include <cstddef>
#include <span>

#include "absl/status/status.h"
#include "core/engine/engine.h"

namespace opserve {

// Fills in what follows from the plan's call and device: the kernel, what it takes, what it costs.
// UNIMPLEMENTED: the device has no such kernel.
absl::Status PlanKernel(Plan& plan);

// Phase two, on memory that was checked. `args` are of the plan's call.
absl::Status RunKernel(const Plan& plan, const KernelArgs& args);

// The memory that a kernel has besides its tensors.
struct Scratch {
  std::span<std::byte> workspace;
  std::span<std::byte> control;
};

// Bytes of both in one lease, 64-byte aligned.
size_t ScratchBytes(const Plan& plan);
// Such a lease, that begins at `start`.
Scratch ScratchAt(const Plan& plan, std::byte* start);

}  // namespace opserve
