// What every device's transfers refuse: arguments that are not as core/device/device.h states. They
// are a defect of the caller's (561103).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "core/base/fragments.h"
#include "core/device/memory_range.h"

namespace opserve {

absl::Status CheckUpload(const MemoryRange& to, const Fragments& from);
absl::Status CheckDownload(const MemoryRange& from, int64_t offset_bytes,
                           std::span<const std::byte> to);
absl::Status CheckCopy(const MemoryRange& from, const MemoryRange& to);
absl::Status CheckFill(const MemoryRange& to, std::span<const std::byte> pattern);

}  // namespace opserve
