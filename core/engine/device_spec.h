// The text form of --device, and the backends that it can name.
#pragma once

#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/device/backend.h"

namespace opserve {

// In the order of builtin_backends.inc.
std::span<const Backend* const> AllBackends();

// nullptr when there is none of that kind.
const Backend* FindBackend(std::string_view kind, std::span<const Backend* const> backends);

// Errors (161002) name the part.
absl::StatusOr<DeviceSpec> ParseDeviceSpec(
    std::string_view text, std::span<const Backend* const> backends = AllBackends());

}  // namespace opserve
