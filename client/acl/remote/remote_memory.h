// Memory on a server, as the C interface sees it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include <opserve/device_tensor.h>

#include "client/acl/provider/provider.h"
#include "client/acl/provider/reserved_range.h"

namespace opserve::acl {

// Its addresses are reserved ones: whoever follows one faults.
class RemoteMemory final : public ProvidedMemory {
 public:
  RemoteMemory(std::unique_ptr<ReservedRange> addresses, client::DeviceBuffer buffer)
      : ProvidedMemory(addresses->start(), buffer.size_bytes()),
        addresses_(std::move(addresses)),
        buffer_(std::move(buffer)) {}

  const client::DeviceBuffer& buffer() const { return buffer_; }
  // No other allocation of the process has or had it; > 0.
  uint64_t serial() const { return serial_; }

 private:
  inline static std::atomic<uint64_t> serials_{0};
  const uint64_t serial_ = ++serials_;
  const std::unique_ptr<ReservedRange> addresses_;
  const client::DeviceBuffer buffer_;
};

// The view's memory must be there.
inline const client::DeviceBuffer& BufferOf(const MemoryView& view) {
  return static_cast<const RemoteMemory&>(*view.memory).buffer();
}

inline client::DeviceTensor BytesOf(const MemoryView& view, int64_t bytes) {
  return BufferOf(view).Bytes(view.offset_bytes, bytes);
}

}  // namespace opserve::acl
