// Failures on demand, so that programs can test what they do about them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "core/base/mutex.h"

namespace opserve::acl {

enum class Fault : uint8_t {
  kMalloc,       // aclrtMalloc: 207001
  kMemcpy,       // a copy or a fill of either kind: 507015
  kPhase1,       // an operator's phase one: 561103
  kPhase2,       // an operator's phase two: 361001
  kKernel,       // a phase two succeeds, and fails in its turn: 507015 at the synchronization
  kSyncTimeout,  // waiting for a stream, a device or an event: 507046, 507047
  kDeviceLost,   // anything that reaches the device, and all that comes after it: 507015
};
inline constexpr size_t kFaults = 7;

// Thread-safe.
class Faults {
 public:
  // Those of this process.
  static Faults& Get();

  // "malloc:3,device_lost:1": the third call from now on, …, fails. A row may say with what:
  // "phase1:2=161002". Replaces what was there; "" ends all. 161002 naming the part that makes no
  // sense, and nothing changes then.
  absl::Status Set(std::string_view text);

  // Counts one call. OK, or what it is to fail with; for kDeviceLost from then on. `usual`: the
  // code of a fault that was set without one, where it is not that of the list above.
  absl::Status Check(Fault fault, std::optional<int32_t> usual = std::nullopt);

 private:
  struct Row {
    int64_t calls_left = 0;  // 0 = none is to fail
    std::optional<int32_t> code;
    bool struck = false;
  };
  using Rows = std::array<Row, kFaults>;

  static absl::Status Parse(std::string_view part, Rows& rows);

  Mutex mutex_;
  Rows rows_ ABSL_GUARDED_BY(mutex_) = {};
};

}  // namespace opserve::acl
