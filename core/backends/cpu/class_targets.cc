#include "core/backends/cpu/class_targets.h"

#include <atomic>
#include <limits>

#include "absl/strings/str_cat.h"
#include "core/backends/cpu/elementwise.h"
#include "core/base/op_error.h"

namespace opserve::cpu {
namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

void KeepSmallest(std::atomic<int64_t>& smallest, int64_t value) {
  int64_t seen = smallest.load(std::memory_order_relaxed);
  while (value < seen && !smallest.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

template <typename T>
void Widen(const std::byte* raw, std::span<int64_t> tile) {
  const auto* from = reinterpret_cast<const T*>(raw);
  for (size_t i = 0; i < tile.size(); ++i) tile[i] = static_cast<int64_t>(from[i]);
}

// Elements as they are, by way of this thread's stack.
void ReadInts(const StridedTensor& tensor, int64_t begin, std::span<int64_t> tile) {
  alignas(64) std::byte raw[kTile * sizeof(int64_t)];
  GatherTile(tensor.operand, tensor.shape, begin, tile.size(), raw);
  switch (tensor.operand.dtype) {
    case DType::kUint8:
      return Widen<uint8_t>(raw, tile);
    case DType::kInt32:
      return Widen<int32_t>(raw, tile);
    default:
      return Widen<int64_t>(raw, tile);
  }
}

}  // namespace

ClassTargets::ClassTargets(const KernelArgs& args, int target, int64_t classes,
                           int64_t ignore_index)
    : args_(args),
      target_(target),
      classes_(classes),
      ignore_index_(ignore_index),
      count_(args.call.input(target).num_elements()),
      tensor_(InputTensor(args, target)) {}

void ClassTargets::Read(int64_t begin, std::span<int64_t> tile) const {
  ReadInts(tensor_, begin, tile);
  for (int64_t& target : tile) {
    if (target == ignore_index_) {
      target = kIgnoredClass;
    } else if (target < 0 || target >= classes_) {
      target = kNoClass;
    }
  }
}

absl::Status ClassTargets::Check() const {
  std::atomic<int64_t> first_bad = kNone;
  args_.workers.ParallelFor((count_ + kChunk - 1) / kChunk, [&](int64_t chunk) {
    std::array<int64_t, kTile> tile;
    const int64_t end = std::min(count_, (chunk + 1) * kChunk);
    for (int64_t i = chunk * kChunk; i < end; i += static_cast<int64_t>(kTile)) {
      const auto count = std::min(kTile, static_cast<size_t>(end - i));
      Read(i, std::span(tile).first(count));
      for (size_t k = 0; k < count; ++k) {
        if (tile[k] != kNoClass) continue;
        return KeepSmallest(first_bad, i + static_cast<int64_t>(k));
      }
    }
  });
  const int64_t at = first_bad.load(std::memory_order_relaxed);
  if (at == kNone) return absl::OkStatus();
  int64_t target = 0;
  ReadInts(tensor_, at, std::span(&target, 1));
  return OutOfRange(
      args_.call.op->inputs[static_cast<size_t>(target_)].name,
      absl::StrCat("classes in [0, ", classes_, "), or ", ignore_index_, " where none counts"),
      absl::StrCat(target, " at element ", at));
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
