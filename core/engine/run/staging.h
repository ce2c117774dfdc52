// Bytes of the host where a device's kernels find them, and back.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "core/base/fragments.h"
#include "core/device/device.h"

namespace opserve {

// Inputs as the kernels of a device want them: each in one piece, aligned, in memory that the
// device reads. Those that are so already are used where they lie.
class StagedInputs {
 public:
  // Memory is charged to `client`. `device` and `workers` (of it) must outlive this.
  StagedInputs(Device& device, const Workers& workers, ClientId client)
      : device_(device), workers_(workers), client_(client) {}

  // `alignment` is a power of two up to kDeviceAlignment. Once the workers are stopped, the bytes
  // may be others.
  absl::Status Add(const Fragments& bytes, size_t alignment);
  // Of the input that was added as number `index`; nullptr for one without bytes.
  const std::byte* start(size_t index) const { return starts_[index]; }

 private:
  Device& device_;
  const Workers& workers_;
  const ClientId client_;
  absl::InlinedVector<PooledBuffer, 4> buffers_;
  absl::InlinedVector<const std::byte*, 4> starts_;
};

// An output that is written by the device and then read by the host.
class StagedOutput {
 public:
  // Memory is charged to `client`.
  static absl::StatusOr<StagedOutput> Lease(Device& device, size_t bytes, ClientId client);
  // One that ends in `memory` of the host, which must stay valid.
  static absl::StatusOr<StagedOutput> InPlace(Device& device, std::span<std::byte> memory,
                                              ClientId client);

  // The device's address; nullptr for one without bytes.
  std::byte* start() const {
    if (written_.data() != nullptr) return written_.data();
    return memory_.empty() ? nullptr : memory_.data();
  }
  // After it was written: the bytes in memory of the host; none where they are in place. Once
  // `workers` are stopped, they may be others.
  absl::StatusOr<PooledBuffer> Fetch(const Workers& workers) &&;

 private:
  StagedOutput(Device& device, ClientId client, PooledBuffer written, std::span<std::byte> memory)
      : device_(&device), client_(client), written_(std::move(written)), memory_(memory) {}

  Device* device_;
  ClientId client_;
  PooledBuffer written_;         // by the device; none where it writes to `memory_`
  std::span<std::byte> memory_;  // empty for one that is leased
};

}  // namespace opserve
