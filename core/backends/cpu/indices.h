// Tensors of indices, which say where something is read or written: each element is loaded once,
// checked, and used as it was loaded.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "absl/status/status.h"
#include "core/backends/cpu/strided_tensor.h"
#include "core/base/mutex.h"
#include "core/device/kernel.h"

namespace opserve::cpu {

// As many as are loaded at once.
inline constexpr int64_t kIndexBlock = 256;

// The elements from `begin` on of an input of int64, int32 or uint8, in row-major order: at most
// kIndexBlock, all of which it has.
void LoadIndices(const StridedTensor& tensor, int64_t begin, std::span<int64_t> out);

// The same, one at a time. Of one thread.
class IndexReader {
 public:
  explicit IndexReader(const StridedTensor& tensor) : tensor_(tensor) {}

  // Element `i` as it was when it, or one shortly before it, was first asked for; cheap where `i`
  // grows.
  int64_t At(int64_t i) {
    if (i < begin_ || i >= end_) Load(i);
    return block_[static_cast<size_t>(i - begin_)];
  }

 private:
  void Load(int64_t begin);

  const StridedTensor& tensor_;
  int64_t begin_ = 0;
  int64_t end_ = 0;
  std::array<int64_t, kIndexBlock> block_{};
};

// The first of the bad indices that several threads find. Thread-safe.
class FirstBadIndex {
 public:
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

  void Note(int64_t position, int64_t index) {
    MutexLock lock(mutex_);
    if (position >= position_) return;
    position_ = position;
    index_ = index;
  }
  // kNone where there is none.
  int64_t position() {
    MutexLock lock(mutex_);
    return position_;
  }
  int64_t index() {
    MutexLock lock(mutex_);
    return index_;
  }

 private:
  Mutex mutex_;
  int64_t position_ ABSL_GUARDED_BY(mutex_) = kNone;
  int64_t index_ ABSL_GUARDED_BY(mutex_) = 0;
};

// 161002, naming input `input`, when an element is not in [0, rows), the first of them. OK, and not
// all of them were looked at, when the call was stopped.
absl::Status CheckIndices(const KernelArgs& args, int input, int64_t rows);

// The indices of each row as a list of their positions, the last first.
struct IndexLists {
  static constexpr int64_t kEnd = -1;

  int64_t* heads;  // of each row: the position of its last index, or kEnd
  int64_t* next;   // of each position: that of the same row's index before it, or kEnd
};

// Makes the lists of input `input`, in control memory; errors and stops as above.
absl::Status LinkIndices(const KernelArgs& args, int input, int64_t rows, const IndexLists& lists);

}  // namespace opserve::cpu
