// The CPU device's transfers: its memory is the host's. Arguments and errors are those of Device's
// functions of the same names; large transfers run side by side on `workers`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "core/base/fragments.h"
#include "core/device/memory_range.h"
#include "core/workers/worker_pool.h"

namespace opserve::cpu {

absl::Status Upload(const MemoryRange& to, const Fragments& from, const Workers& workers);
absl::Status Download(const MemoryRange& from, int64_t offset_bytes, std::span<std::byte> to,
                      const Workers& workers);
absl::Status Copy(const MemoryRange& from, const MemoryRange& to, const Workers& workers);
absl::Status Fill(const MemoryRange& to, std::span<const std::byte> pattern,
                  const Workers& workers);

}  // namespace opserve::cpu
