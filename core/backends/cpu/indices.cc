#include "core/backends/cpu/indices.h"

#include <algorithm>
#include <span>

#include "absl/strings/str_cat.h"
#include "core/backends/cpu/elementwise.h"
#include "core/backends/cpu/pace.h"
#include "core/backends/cpu/read_once.h"
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

template <typename T>
void LoadBlock(const StridedTensor& tensor, int64_t begin, std::span<int64_t> out) {
  if (tensor.linear()) {
    const T* from = reinterpret_cast<const T*>(tensor.operand.input) + begin;
    for (size_t i = 0; i < out.size(); ++i) out[i] = ReadOnce(from + i);
    return;
  }
  std::array<T, kIndexBlock> block{};
  GatherTile(tensor.operand, tensor.shape, begin, out.size(),
             reinterpret_cast<std::byte*>(block.data()));
  std::copy_n(block.begin(), out.size(), out.begin());
}

}  // namespace

void LoadIndices(const StridedTensor& tensor, int64_t begin, std::span<int64_t> out) {
  switch (tensor.operand.dtype) {
    case DType::kUint8:
      return LoadBlock<uint8_t>(tensor, begin, out);
    case DType::kInt32:
      return LoadBlock<int32_t>(tensor, begin, out);
    default:
      return LoadBlock<int64_t>(tensor, begin, out);
  }
}

void IndexReader::Load(int64_t begin) {
  begin_ = begin;
  end_ = begin + std::min(kIndexBlock, ElementsOf(tensor_) - begin);
  LoadIndices(tensor_, begin, std::span(block_).first(static_cast<size_t>(end_ - begin_)));
}

absl::Status CheckIndices(const KernelArgs& args, int input, int64_t rows) {
  const StridedTensor tensor = InputTensor(args, input);
  const int64_t count = args.call.input(input).num_elements();
  FirstBadIndex bad;
  args.workers.ParallelFor((count + kChunk - 1) / kChunk, [&](int64_t chunk) {
    IndexReader reader(tensor);
    const int64_t end = std::min(count, (chunk + 1) * kChunk);
    for (int64_t i = chunk * kChunk; i < end; ++i) {
      const int64_t index = reader.At(i);
      if (index < 0 || index >= rows) return bad.Note(i, index);
    }
  });
  if (bad.position() == FirstBadIndex::kNone) return absl::OkStatus();
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
