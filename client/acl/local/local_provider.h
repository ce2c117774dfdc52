// Devices in this process: core's engine.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "client/acl/provider/provider.h"
#include "core/engine/engine.h"

namespace opserve::acl {

struct LocalOptions {
  std::vector<DeviceSpec> devices = {DeviceSpec()};
  int64_t memory_limit_bytes = 0;
  // Addresses that programs see are reserved ones, apart from the memory: whoever follows one
  // faults.
  bool guard_memory = false;
};

absl::StatusOr<std::unique_ptr<Provider>> OpenLocalProvider(const LocalOptions& options);

}  // namespace opserve::acl
