// What is behind SharedMemory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

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

}  // namespace opserve::client
