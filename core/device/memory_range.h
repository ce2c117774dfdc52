// A part of a device's memory, as transfers see it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opserve {

// `rows` runs of `row_bytes`, `stride_bytes` from one's start to the next's. Its bytes are those of
// the rows, one after the other. Does not own the memory; `start` is the device's address.
struct MemoryRange {
  std::byte* start = nullptr;
  int64_t row_bytes = 0;     // >= 0
  int64_t rows = 1;          // >= 0
  int64_t stride_bytes = 0;  // >= row_bytes where there are several rows

  int64_t size_bytes() const { return rows * row_bytes; }
};

}  // namespace opserve
