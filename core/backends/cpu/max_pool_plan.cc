#include "core/backends/cpu/max_pool_plan.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "core/backends/cpu/read_once.h"
#include "core/backends/cpu/runs.h"
#include "core/backends/cpu/scratch.h"
#include "core/backends/cpu/strided_tensor.h"
#include "core/base/mutex.h"
#include "core/base/op_error.h"

namespace opserve::cpu {
namespace {

constexpr int64_t kMostChunks = 64;

// The first index that is out of its plane.
class FirstBadIndex {
 public:
  void Note(int64_t position, int64_t index) {
    MutexLock lock(mutex_);
    if (position >= position_) return;
    position_ = position;
    index_ = index;
  }

  absl::Status ToStatus(const PlaneShape& plane) {
    MutexLock lock(mutex_);
    if (position_ == std::numeric_limits<int64_t>::max()) return absl::OkStatus();
    return OutOfRange("indices",
                      absl::StrCat("in [0, ", plane.area(),
                                   "), as a plane has it, or -1 of a window without elements"),
                      absl::StrCat(index_, " at ", position_));
  }

 private:
  Mutex mutex_;
  int64_t position_ ABSL_GUARDED_BY(mutex_) = std::numeric_limits<int64_t>::max();
  int64_t index_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Whether all are at least −1 and less than `area`. They may change meanwhile: who uses one looks
// again.
template <typename Index>
bool AreWithin(const Index* indices, int64_t count, int64_t area) {
  uint64_t greatest = 0;
  for (int64_t i = 0; i < count; ++i)
    greatest = std::max(greatest, static_cast<uint64_t>(int64_t{indices[i]}) + 1);
  return greatest <= static_cast<uint64_t>(area);
}

template <typename Index>
absl::Status CheckIndices(const KernelArgs& args, const PlaneShape& plane) {
  const StridedTensor tensor = InputTensor(args, 2);
  const int64_t elements = args.call.input(2).num_elements();
  const int64_t area = plane.area();
  FirstBadIndex bad;
  args.workers.ParallelFor((elements + kChunk - 1) / kChunk, [&](int64_t chunk) {
    Index tile[kTile];
    const int64_t end = std::min(elements, (chunk + 1) * kChunk);
    for (int64_t begin = chunk * kChunk; begin < end; begin += kPiece) {
      const int64_t count = std::min(kPiece, end - begin);
      const Index* indices = reinterpret_cast<const Index*>(tensor.operand.input) + begin;
      if (!tensor.linear()) {
        GatherTile(tensor.operand, tensor.shape, begin, static_cast<size_t>(count),
                   reinterpret_cast<std::byte*>(tile));
        indices = tile;
      }
      if (AreWithin(indices, count, area)) continue;
      for (int64_t i = 0; i < count; ++i) {
        const auto index = static_cast<int64_t>(ReadOnce(indices + i));
        if (index < -1 || index >= area) return bad.Note(begin + i, index);
      }
    }
  });
  return bad.ToStatus(plane);
}

}  // namespace

MaxPoolGradientPlan::MaxPoolGradientPlan(const OpCall& call)
    : in(call.output(0).desc, 2), out(call.input(0), 2), chunks(std::min(in.planes, kMostChunks)) {
  ScratchPlan scratch;
  int64_t elements = 0;
  if (__builtin_mul_overflow(chunks, stride(), &elements))
    elements = std::numeric_limits<int64_t>::max();
  planes = scratch.Take(elements, sizeof(float));
  bytes = scratch.bytes();
}

absl::Status CheckPoolIndices(const KernelArgs& args, const MaxPoolGradientPlan& plan) {
  if (args.call.input(2).dtype == DType::kInt64) return CheckIndices<int64_t>(args, plan.in);
  return CheckIndices<int32_t>(args, plan.in);
}

}  // namespace opserve::cpu
