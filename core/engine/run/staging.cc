#include "core/engine/run/staging.h"

#include <cstdint>
#include <utility>

#include "core/base/status_macros.h"

namespace opserve {
namespace {

MemoryRange RangeOf(const PooledBuffer& buffer) {
  return {.start = buffer.data(), .row_bytes = static_cast<int64_t>(buffer.size())};
}

}  // namespace

absl::Status StagedInputs::Add(const Fragments& bytes, size_t alignment) {
  PooledBuffer buffer;
  const std::byte* start = nullptr;
  if (device_.uses_host_memory() && bytes.LiesAligned(alignment)) {
    start = bytes.pieces()[0].data();
  } else if (bytes.size_bytes() > 0) {
    OPSERVE_ASSIGN_OR_RETURN(buffer,
                             device_.memory().Acquire(bytes.size_bytes(), {.client = client_}));
    OPSERVE_RETURN_IF_ERROR(device_.Upload(RangeOf(buffer), bytes, workers_));
    start = buffer.data();
  }
  starts_.push_back(start);
  buffers_.push_back(std::move(buffer));
  return absl::OkStatus();
}

absl::StatusOr<StagedOutput> StagedOutput::Lease(Device& device, size_t bytes, ClientId client) {
  OPSERVE_ASSIGN_OR_RETURN(PooledBuffer buffer, device.memory().Acquire(bytes, {.client = client}));
  return StagedOutput(device, client, std::move(buffer), {});
}

absl::StatusOr<StagedOutput> StagedOutput::InPlace(Device& device, std::span<std::byte> memory,
                                                   ClientId client) {
  PooledBuffer buffer;
  if (!device.uses_host_memory() && !memory.empty()) {
    OPSERVE_ASSIGN_OR_RETURN(buffer, device.memory().Acquire(memory.size(), {.client = client}));
  }
  return StagedOutput(device, client, std::move(buffer), memory);
}

absl::StatusOr<PooledBuffer> StagedOutput::Fetch(const Workers& workers) && {
  if (device_->uses_host_memory() || written_.size() == 0) return std::move(written_);
  if (!memory_.empty()) {
    OPSERVE_RETURN_IF_ERROR(device_->Download(RangeOf(written_), 0, memory_, workers));
    return PooledBuffer();
  }
  OPSERVE_ASSIGN_OR_RETURN(PooledBuffer fetched,
                           device_->host_memory().Acquire(written_.size(), {.client = client_}));
  OPSERVE_RETURN_IF_ERROR(
      device_->Download(RangeOf(written_), 0, {fetched.data(), fetched.size()}, workers));
  return fetched;
}

}  // namespace opserve
