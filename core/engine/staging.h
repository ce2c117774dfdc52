// Bytes of the host where a device's kernels find them, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "core/base/fragments.h"
#include "core/device/device.h"

namespace opserve {

// An address for tensors without bytes, which kernels may form but not follow.
std::byte* AddressOfNothing();

// Inputs as the kernels of a device want them: each in one piece, aligned, in memory that the
// device reads. Those that are so already are used where they lie.
class StagedInputs {
 public:
  explicit StagedInputs(Device& device) : device_(device) {}

  // `alignment` is a power of two up to 64.
  absl::Status Add(const Fragments& bytes, size_t alignment);
  // Of the input that was added as number `index`.
  const std::byte* start(size_t index) const { return starts_[index]; }

 private:
  Device& device_;
  absl::InlinedVector<PooledBuffer, 4> buffers_;
  absl::InlinedVector<const std::byte*, 4> starts_;
};

// An output that is written by the device and then read by the host.
class StagedOutput {
 public:
  static absl::StatusOr<StagedOutput> Lease(Device& device, size_t bytes);

  // The device's address.
  std::byte* start() const {
    return written_.data() == nullptr ? AddressOfNothing() : written_.data();
  }
  // After it was written: the bytes in memory of the host.
  absl::StatusOr<PooledBuffer> Fetch() &&;

 private:
  StagedOutput(Device& device, PooledBuffer written)
      : device_(&device), written_(std::move(written)) {}

  Device* device_;
  PooledBuffer written_;
};

}  // namespace opserve
