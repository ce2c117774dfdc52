// A part of a device's memory, as transfers see it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opserve {

// `rows` rows of `row_bytes`, each `stride_bytes` after the one before; the bytes of the range are
// those of its rows in order. Does not own the memory; `start` is a device address.
struct MemoryRange {
  std::byte* start = nullptr;
  int64_t row_bytes = 0;     // >= 0
  int64_t rows = 1;          // >= 0
  int64_t stride_bytes = 0;  // >= row_bytes where there are several rows

  int64_t size_bytes() const { return rows * row_bytes; }
};

}  // namespace opserve
