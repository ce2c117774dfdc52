// Bytes of one logical run that lie in several pieces of memory, as a transport delivers them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "absl/container/inlined_vector.h"

namespace opserve {

// Points at memory that it does not own. Pieces are of any length at any address.
class Fragments {
 public:
  Fragments() = default;
  explicit Fragments(std::span<const std::byte> piece) { Append(piece); }

  void Append(std::span<const std::byte> piece) {
    if (piece.empty()) return;
    pieces_.push_back(piece);
    size_bytes_ += piece.size();
  }

  size_t size_bytes() const { return size_bytes_; }
  std::span<const std::span<const std::byte>> pieces() const { return pieces_; }

  // Whether they are one run that begins at a multiple of `alignment`, a power of two.
  bool LiesAligned(size_t alignment) const {
    return pieces_.size() == 1 && reinterpret_cast<uintptr_t>(pieces_[0].data()) % alignment == 0;
  }

  // Copies `count` bytes from `offset` on to `destination`. The range must lie inside.
  void CopyTo(std::byte* destination, size_t offset, size_t count) const {
    for (const std::span<const std::byte> piece : pieces_) {
      if (count == 0) return;
      if (offset >= piece.size()) {
        offset -= piece.size();
        continue;
      }
      const size_t taken = std::min(count, piece.size() - offset);
      std::memcpy(destination, piece.data() + offset, taken);
      destination += taken;
      count -= taken;
      offset = 0;
    }
  }

 private:
  absl::InlinedVector<std::span<const std::byte>, 2> pieces_;
  size_t size_bytes_ = 0;
};

}  // namespace opserve
