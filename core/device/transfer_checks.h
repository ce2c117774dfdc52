// What every device's transfers refuse: arguments that are not as core/device/device.h states. They
// are a defect of the caller's (561103).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "core/base/fragments.h"
#include "core/device/memory_region.h"

namespace opserve {

absl::Status CheckUpload(const MemoryRegion& to, const Fragments& from);
absl::Status CheckDownload(const MemoryRegion& from, int64_t offset_bytes,
                           std::span<const std::byte> to);
absl::Status CheckCopy(const MemoryRegion& from, const MemoryRegion& to);
absl::Status CheckFill(const MemoryRegion& to, std::span<const std::byte> pattern);

}  // namespace opserve
