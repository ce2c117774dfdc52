// The devices that specs ask for. Called by the engine only.
#pragma once

#include <memory>

#include "core/device/device.h"
#include "core/engine/engine_options.h"

namespace opserve {

// In the order of the specs, of which there is one at least. Errors: those of the backends; 161002
// naming `device` for one that is there twice; RESOURCE_EXHAUSTED where a device cannot have its
// threads.
absl::StatusOr<std::vector<std::unique_ptr<Device>>> MakeDevices(const EngineOptions& options);

}  // namespace opserve
