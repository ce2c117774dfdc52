#include "core/engine/plan/arena_layout.h"

#include <algorithm>
#include <iterator>

#include "core/base/alignment.h"

namespace opserve {
namespace {

// Sums of these stay below 2^64, and are refused as memory anyway.
constexpr size_t kMostBytes = size_t{1} << 62;

size_t Rounded(size_t bytes) { return RoundUpToAlignment(std::min(bytes, kMostBytes)); }

}  // namespace

size_t ArenaLayout::Take(size_t bytes) {
  const size_t size = Rounded(bytes);
  if (size == 0) return 0;
  for (auto hole = free_.begin(); hole != free_.end(); ++hole) {
    if (hole->second < size) continue;
    const size_t offset = hole->first;
    const size_t left = hole->second - size;
    free_.erase(hole);
    if (left > 0) free_.emplace(offset + size, left);
    return offset;
  }
  // A hole at the end grows.
  size_t offset = end_;
  if (!free_.empty()) {
    const auto last = std::prev(free_.end());
    if (last->first + last->second == end_) {
      offset = last->first;
      free_.erase(last);
    }
  }
  end_ = std::min(kMostBytes, offset + size);
  peak_ = std::max(peak_, end_);
  return offset;
}

void ArenaLayout::Free(size_t offset, size_t bytes) {
  size_t size = Rounded(bytes);
  if (size == 0) return;
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && offset + size == next->first) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += size;
      return;
    }
  }
  free_.emplace(offset, size);
}

}  // namespace opserve
