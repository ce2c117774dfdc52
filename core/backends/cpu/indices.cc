#include "core/backends/cpu/indices.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "core/backends/cpu/elementwise.h"
#include "core/backends/cpu/pace.h"
#include "core/backends/cpu/read_once.h"
#include "core/base/mutex.h"
#include "core/base/op_error.h"

namespace opserve::cpu {
namespace {

// What a step along a list takes, as Pace counts it.
constexpr int64_t kLinkCost = 8;

int64_t ElementsOf(const StridedTensor& tensor) {
  // Of the merged dimensions.
  return NumElements(tensor.shape).value_or(0);
}

absl::Status BadIndex(const KernelArgs& args, int input, int64_t rows, int64_t position,
                      int64_t index) {
  return OutOfRange(args.call.op->inputs[static_cast<size_t>(input)].name,
                    absl::StrCat("indices in [0, ", rows, ")"),
                    absl::StrCat(index, " at ", position));
}

// The first of those that several threads find. Thread-safe.
class FirstBad {
 public:
  void Note(int64_t position, int64_t index) {
    MutexLock lock(mutex_);
    if (position >= position_) return;
    position_ = position;
    index_ = index;
  }
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
  int64_t position_ ABSL_GUARDED_BY(mutex_) = std::numeric_limits<int64_t>::max();
  int64_t index_ ABSL_GUARDED_BY(mutex_) = 0;
};

template <typename T>
void LoadLinear(const StridedTensor& tensor, int64_t begin, int64_t count, int64_t* out) {
  const T* from = reinterpret_cast<const T*>(tensor.operand.input) + begin;
  for (int64_t i = 0; i < count; ++i) out[i] = ReadOnce(from + i);
}

}  // namespace

void IndexReader::Load(int64_t begin) {
  begin_ = begin;
  end_ = begin + std::min(kBlock, ElementsOf(tensor_) - begin);
  const int64_t count = end_ - begin_;
  const bool narrow = tensor_.operand.dtype == DType::kInt32;
  if (tensor_.linear()) {
    if (narrow) return LoadLinear<int32_t>(tensor_, begin, count, block_.data());
    return LoadLinear<int64_t>(tensor_, begin, count, block_.data());
  }
  auto* bytes = reinterpret_cast<std::byte*>(block_.data());
  if (!narrow)
    return GatherTile(tensor_.operand, tensor_.shape, begin, static_cast<size_t>(count), bytes);
  std::array<int32_t, kBlock> narrow_block;
  GatherTile(tensor_.operand, tensor_.shape, begin, static_cast<size_t>(count),
             reinterpret_cast<std::byte*>(narrow_block.data()));
  std::copy_n(narrow_block.begin(), count, block_.begin());
}

absl::Status CheckIndices(const KernelArgs& args, int input, int64_t rows) {
  const StridedTensor tensor = InputTensor(args, input);
  const int64_t count = args.call.input(input).num_elements();
  FirstBad bad;
  args.workers.ParallelFor((count + kChunk - 1) / kChunk, [&](int64_t chunk) {
    IndexReader reader(tensor);
    const int64_t end = std::min(count, (chunk + 1) * kChunk);
    for (int64_t i = chunk * kChunk; i < end; ++i) {
      const int64_t index = reader.At(i);
      if (index < 0 || index >= rows) return bad.Note(i, index);
    }
  });
  if (bad.position() == std::numeric_limits<int64_t>::max()) return absl::OkStatus();
  return BadIndex(args, input, rows, bad.position(), bad.index());
}

absl::Status LinkIndices(const KernelArgs& args, int input, int64_t rows, const IndexLists& lists) {
  const int64_t chunks = (rows + kChunk - 1) / kChunk;
  args.workers.ParallelFor(chunks, [&](int64_t chunk) {
    const int64_t begin = chunk * kChunk;
    std::fill_n(lists.heads + begin, std::min(kChunk, rows - begin), IndexLists::kEnd);
  });
  if (args.workers.stopped()) return absl::OkStatus();
  const StridedTensor tensor = InputTensor(args, input);
  const int64_t count = args.call.input(input).num_elements();
  IndexReader reader(tensor);
  Pace pace(args.workers);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = reader.At(i);
    if (index < 0 || index >= rows) return BadIndex(args, input, rows, i, index);
    lists.next[i] = lists.heads[index];
    lists.heads[index] = i;
    if (!pace.Goes(kLinkCost)) return absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace opserve::cpu
