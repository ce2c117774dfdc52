// Targets that are classes, as the kernels of losses read them: whatever a client writes meanwhile,
// a class is looked at once, and is one of the classes or none.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "core/backends/cpu/strided_tensor.h"
#include "core/device/kernel.h"

namespace opserve::cpu {

// Of a target that does not count, and of one that is no class.
inline constexpr int64_t kIgnoredClass = -1;
inline constexpr int64_t kNoClass = -2;

class ClassTargets {
 public:
  // Input `target` of a call with so many classes.
  ClassTargets(const KernelArgs& args, int target, int64_t classes, int64_t ignore_index);

  // 161002 where a target is no class and is not ignored.
  absl::Status Check() const;

  int64_t count() const { return count_; }

  // The classes of targets [begin, begin + tile.size()), at most kIndexBlock.
  void Read(int64_t begin, std::span<int64_t> tile) const;

 private:
  int64_t ClassOf(int64_t target) const;

  const KernelArgs& args_;
  const int target_;
  const int64_t classes_;
  const int64_t ignore_index_;
  const int64_t count_;
  const StridedTensor tensor_;
};

// Of some samples: their losses and weights.
struct ClassSums {
  double loss = 0;
  double weight = 0;
};

// Workspace of SumSamples (class_samples-inl.h): the sums of each chunk.
inline size_t SampleSumsBytes(int64_t samples, int64_t of_chunk) {
  return static_cast<size_t>((samples + of_chunk - 1) / of_chunk) * sizeof(ClassSums);
}

// Offsets in memory of the elements of a tensor, in row-major order, run by run: those of a run are
// step() apart.
class ElementCursor {
 public:
  ElementCursor(const TensorDesc& desc, int64_t begin);

  int64_t offset() const { return offset_; }
  int64_t step() const { return desc_.strides.empty() ? 0 : desc_.strides.back(); }
  // The elements from here to the run's end, at least 1.
  int64_t left() const { return desc_.shape.empty() ? 1 : desc_.shape.back() - index_.back(); }
  // Goes on by `count` <= left() elements.
  void Skip(int64_t count) {
    for (size_t i = desc_.shape.size(); i > 0; --i, count = 1) {
      offset_ += count * desc_.strides[i - 1];
      index_[i - 1] += count;
      if (index_[i - 1] < desc_.shape[i - 1]) return;
      offset_ -= desc_.shape[i - 1] * desc_.strides[i - 1];
      index_[i - 1] = 0;
    }
  }

 private:
  const TensorDesc& desc_;
  Dims index_;
  int64_t offset_;
};

}  // namespace opserve::cpu
