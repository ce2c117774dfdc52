// Where the device's pools have their memory from.
#pragma once

#include <cstddef>

#include "core/backends/ascend/npu.h"
#include "core/device/memory_pool.h"

namespace opserve::ascend {

// The NPU's own. Only the NPU may follow its addresses.
class DeviceMemory final : public MemorySource {
 public:
  explicit DeviceMemory(Npu& npu) : npu_(npu) {}
  std::byte* Allocate(size_t bytes) override;
  void Free(std::byte* data, size_t bytes) override;
  absl::Status Clear(std::byte* data, size_t bytes) override;

 private:
  Npu& npu_;
};

// The host's, pinned: transfers go from and to it without a stop.
class PinnedMemory final : public MemorySource {
 public:
  explicit PinnedMemory(Npu& npu) : npu_(npu) {}
  std::byte* Allocate(size_t bytes) override;
  void Free(std::byte* data, size_t bytes) override;
  absl::Status Clear(std::byte* data, size_t bytes) override;
  bool is_host_memory() const override { return true; }

 private:
  Npu& npu_;
};

}  // namespace opserve::ascend
