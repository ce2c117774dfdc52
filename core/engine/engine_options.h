// The options of an engine.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/engine/device_spec.h"
#include "core/engine/load/admission.h"
#include "core/program/program.h"

namespace opserve {

// What a call may be.
struct CallLimits {
  // What it may take by estimate (Plan::cost), unless it runs in pieces.
  absl::Duration max_time = absl::InfiniteDuration();
  // Of a program, and of all programs of a batch together. At most kMaxProgramSteps.
  int64_t max_program_steps = kMaxProgramSteps;
};

struct EngineOptions {
  std::vector<DeviceSpec> devices = {DeviceSpec()};
  // The backends that the specs may name.
  std::span<const Backend* const> backends = AllBackends();
  // Folders with the vendor's libraries for NPUs, or single libraries of operators; see
  // ascend::AclLibrary::Open.
  std::vector<std::string> ascend_library_paths = {};
  // Bound on tensors and workspaces, over all devices in equal parts.
  int64_t memory_limit_bytes = int64_t{1} << 30;
  // The part of a device's memory, calls and bytes in flight for one client; see SharedLimit.
  double client_share = 1;
  AdmissionLimits admission;  // of each device
  CallLimits calls;
  const Clock* clock = &Clock::Real();
};

}  // namespace opserve
