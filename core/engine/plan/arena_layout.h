// Offsets in one block of memory for parts whose lifetimes overlap only partly.
#pragma once

#include <cstddef>
#include <map>

namespace opserve {

// First fit: a freed part is used again for a part that fits. Offsets are 64-byte aligned. Any
// sizes are allowed: sums saturate instead of overflowing.
class ArenaLayout {
 public:
  size_t Take(size_t bytes);
  // What Take gave for so many bytes.
  void Free(size_t offset, size_t bytes);

  // The most that was needed at a time.
  size_t peak_bytes() const { return peak_; }

 private:
  std::map<size_t, size_t> free_;  // below the end: offset and size, none beside another
  size_t end_ = 0;                 // from here on nothing was taken
  size_t peak_ = 0;
};

}  // namespace opserve
