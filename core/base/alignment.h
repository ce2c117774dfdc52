// How memory of a device is aligned.
#pragma once

#include <cstddef>

namespace opserve {

// Of every lease of pooled memory, and what a workspace must be aligned to: a line of the cache,
// and the widest SIMD vector.
inline constexpr size_t kDeviceAlignment = 64;

// The least multiple of it that is no less. `bytes` <= SIZE_MAX - kDeviceAlignment.
constexpr size_t RoundUpToAlignment(size_t bytes) {
  return (bytes + kDeviceAlignment - 1) / kDeviceAlignment * kDeviceAlignment;
}

}  // namespace opserve
