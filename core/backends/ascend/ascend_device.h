// NPUs of the Ascend family, driven through the vendor's libraries (AscendCL and aclnn), which are
// loaded at run time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/backends/ascend/acl_library.h"
#include "core/base/clock.h"
#include "core/device/backend.h"

namespace opserve::ascend {

extern const Backend kAscendBackend;

// How many devices the runtime sees. 361001.
absl::StatusOr<int32_t> CountDevices(const AclLibrary& library);

struct AscendDeviceOptions {
  int32_t id = 0;   // the runtime's; the device is called "ascend:<id>"
  int threads = 0;  // of the host, each waits for one call at a time; 0 = 4
  Profile profile = Profile::kHost;
  int64_t memory_limit_bytes = 0;
  double client_share = 1;  // of it; see SharedLimit
  // A device on which one call takes longer is not used any more.
  absl::Duration synchronize_timeout = absl::Minutes(2);
};

// Leases of its memory must end before it does. An operator that the library lacks has no kernel.
// Kernels say 0 workspace bytes: each execution asks phase one and leases what it says from
// memory(). They make no ranges. Small element-wise
// calls that wait are joined end to end. Errors: 361001.
absl::StatusOr<std::unique_ptr<Device>> MakeAscendDevice(std::shared_ptr<const AclLibrary> library,
                                                         const AscendDeviceOptions& options,
                                                         const Clock& clock);

}  // namespace opserve::ascend
