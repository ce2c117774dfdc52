// Laying out a kernel's workspace: the same plan says how large it is and where each part lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace opserve::cpu {

// Parts one after another, each on a cache line of its own. Sizes that exceed int64 stay at its
// maximum, which no pool grants.
class ScratchPlan {
 public:
  // Offset of a part of `count` elements of `element_bytes`.
  size_t Take(int64_t count, size_t element_bytes) {
    const int64_t begin = bytes_;
    int64_t size = 0;
    if (__builtin_mul_overflow(count, static_cast<int64_t>(element_bytes), &size) ||
        __builtin_add_overflow(size, kLine - 1, &size) ||
        __builtin_add_overflow(begin, size / kLine * kLine, &bytes_)) {
      bytes_ = std::numeric_limits<int64_t>::max() / kLine * kLine;
    }
    return static_cast<size_t>(begin);
  }

  size_t bytes() const { return static_cast<size_t>(bytes_); }

 private:
  static constexpr int64_t kLine = 64;
  int64_t bytes_ = 0;
};

template <typename T>
T* ScratchAt(std::span<std::byte> workspace, size_t offset) {
  return reinterpret_cast<T*>(workspace.data() + offset);
}

}  // namespace opserve::cpu
