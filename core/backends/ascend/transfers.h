// The NPU's transfers: one call of the runtime for each run of bytes that lie side by side on both
// sides. Arguments and errors are those of Device's functions of the same names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "core/backends/ascend/npu.h"
#include "core/base/fragments.h"
#include "core/device/memory_range.h"
#include "core/workers/worker_pool.h"

namespace opserve::ascend {

absl::Status Upload(Npu& npu, const MemoryRange& to, const Fragments& from, const Workers& workers);
absl::Status Download(Npu& npu, const MemoryRange& from, int64_t offset_bytes,
                      std::span<std::byte> to, const Workers& workers);
absl::Status Copy(Npu& npu, const MemoryRange& from, const MemoryRange& to, const Workers& workers);
absl::Status Fill(Npu& npu, const MemoryRange& to, std::span<const std::byte> pattern,
                  const Workers& workers);

}  // namespace opserve::ascend
