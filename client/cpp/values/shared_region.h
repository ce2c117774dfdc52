// What is behind SharedMemory, and behind the memory that calls share by themselves.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "core/base/unique_fd.h"

namespace opserve::client {

// Unmapped with the object.
struct SharedRegion {
  SharedRegion() = default;
  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;
  ~SharedRegion();

  // The server releases the region when this closes, if nobody asked it to before.
  std::shared_ptr<const UniqueFd> socket;
  std::string id;
  std::span<std::byte> bytes;
  // The server may still use it, for a call that nobody waits for: not to be used again.
  std::atomic<bool> is_spoiled = false;
};

}  // namespace opserve::client
