#include "core/backends/cpu/class_targets.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/backends/cpu/elementwise.h"
#include "core/backends/cpu/indices.h"
#include "core/base/op_error.h"

namespace opserve::cpu {
ClassTargets::ClassTargets(const KernelArgs& args, int target, int64_t classes,
                           int64_t ignore_index)
    : args_(args),
      target_(target),
      classes_(classes),
      ignore_index_(ignore_index),
      count_(args.call.input(target).num_elements()),
      tensor_(InputTensor(args, target)) {}

int64_t ClassTargets::ClassOf(int64_t target) const {
  if (target == ignore_index_) return kIgnoredClass;
  // Negative ones are large then.
  return static_cast<uint64_t>(target) < static_cast<uint64_t>(classes_) ? target : kNoClass;
}

void ClassTargets::Read(int64_t begin, std::span<int64_t> tile) const {
  LoadIndices(tensor_, begin, tile);
  for (int64_t& of_class : tile) of_class = ClassOf(of_class);
}

absl::Status ClassTargets::Check() const {
  FirstBadIndex bad;
  args_.workers.ParallelFor((count_ + kChunk - 1) / kChunk, [&](int64_t chunk) {
    int64_t block[kIndexBlock];
    const int64_t end = std::min(count_, (chunk + 1) * kChunk);
    for (int64_t begin = chunk * kChunk; begin < end; begin += kIndexBlock) {
      const std::span<int64_t> targets =
          std::span(block).first(static_cast<size_t>(std::min(kIndexBlock, end - begin)));
      LoadIndices(tensor_, begin, targets);
      int64_t bad_ones = 0;  // counted, so that the loop has no branches
      for (const int64_t target : targets) bad_ones += ClassOf(target) == kNoClass ? 1 : 0;
      if (bad_ones == 0) continue;
      const auto first = std::find_if(targets.begin(), targets.end(), [this](int64_t target) {
        return ClassOf(target) == kNoClass;
      });
      return bad.Note(begin + (first - targets.begin()), *first);
    }
  });
  if (bad.position() == FirstBadIndex::kNone) return absl::OkStatus();
  return OutOfRange(
      args_.call.op->inputs[static_cast<size_t>(target_)].name,
      absl::StrCat("classes in [0, ", classes_, "), or ", ignore_index_, " where none counts"),
      absl::StrCat(bad.index(), " at ", bad.position()));
}

ElementCursor::ElementCursor(const TensorDesc& desc, int64_t begin)
    : desc_(desc), index_(desc.shape.size()), offset_(desc.storage_offset) {
  for (size_t i = desc.shape.size(); i > 0; --i) {
    index_[i - 1] = begin % desc.shape[i - 1];
    begin /= desc.shape[i - 1];
    offset_ += index_[i - 1] * desc.strides[i - 1];
  }
}

}  // namespace opserve::cpu
