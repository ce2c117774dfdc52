// What is behind SharedMemory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/base/unique_fd.h"

namespace opserve::client {

// Released, and unmapped, with the object.
struct SharedRegion {
  SharedRegion() = default;
  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;
  ~SharedRegion();

  UniqueFd socket;  // the server releases the region when it closes
  std::string id;
  std::span<std::byte> bytes;
};

// What the server answers to AllocateRegion: the region's id, or its error. INTERNAL for what is no
// such answer, or not what was asked for.
absl::StatusOr<std::string> ReadRegionId(std::string_view packet, int64_t size_bytes);

}  // namespace opserve::client
