// The CPU device: this machine's cores, kernels vectorised with Highway.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/device/backend.h"

namespace opserve::cpu {

extern const Backend kCpuBackend;

struct CpuDeviceOptions {
  std::string name = "cpu:0";
  int threads = 0;  // 0 = every core of the node that this process may use
  std::optional<int> numa_node = std::nullopt;  // one of NumaNodes(); none = all
  Profile profile = Profile::kHost;
  int64_t memory_limit_bytes = 0;
  double client_share = 1;  // of it; see SharedLimit
};

std::unique_ptr<Device> MakeCpuDevice(const CpuDeviceOptions& options, const Clock& clock);

// The SIMD instruction set that kernels run with here: "AVX3", "AVX2", "SCALAR", …
std::string SimdTargetName();

}  // namespace opserve::cpu
