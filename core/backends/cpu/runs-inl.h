// What kernels share that read and write runs of elements, in any layout: rows in, rows out, and
// the loops over them. Included once a SIMD target.

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/backends/cpu/elements.h"
#include "core/backends/cpu/pace.h"
#include "core/backends/cpu/runs.h"
#include "core/backends/cpu/strided_tensor.h"

#if defined(OPSERVE_CPU_RUNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_RUNS_INL_H_
#undef OPSERVE_CPU_RUNS_INL_H_
#else
#define OPSERVE_CPU_RUNS_INL_H_
#endif

#include "core/backends/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// Runs of a tensor's elements, in place where they lie side by side.
template <typename T>
class RunReader {
 public:
  explicit RunReader(const StridedTensor& tensor) : tensor_(tensor) {}

  // Elements [begin, begin + count), count <= kTile. Valid until the next call.
  HWY_INLINE const T* Read(int64_t begin, size_t count) {
    if (tensor_.linear()) return reinterpret_cast<const T*>(tensor_.operand.input) + begin;
    GatherTile(tensor_.operand, tensor_.shape, begin, count, reinterpret_cast<std::byte*>(tile_));
    return tile_;
  }

  float At(int64_t index) { return ToFloat(*Read(index, 1)); }

 private:
  const StridedTensor& tensor_;
  alignas(64) T tile_[kTile];
};

// Copies to memory that will not be read soon.
inline void StreamCopy(const std::byte* from, std::byte* to, size_t bytes) {
  const hn::ScalableTag<uint8_t> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = (lanes - reinterpret_cast<uintptr_t>(to) % lanes) % lanes;
  i = std::min(i, bytes);
  std::memcpy(to, from, i);
  for (; i + lanes <= bytes; i += lanes) {
    hn::Stream(hn::LoadU(d, reinterpret_cast<const uint8_t*>(from + i)), d,
               reinterpret_cast<uint8_t*>(to + i));
  }
  std::memcpy(to + i, from + i, bytes - i);
}

enum class Store : uint8_t { kCached, kStreamed };

// How an output is best written.
inline Store StoreOf(const TensorDesc& desc) {
  return IsStreamed(desc.size_bytes()) ? Store::kStreamed : Store::kCached;
}

// Writes a tensor's elements in order from `begin` on.
template <typename T>
class RunWriter {
 public:
  RunWriter(const StridedTensor& tensor, int64_t begin, Store store)
      : tensor_(tensor), direct_(tensor.linear() && store == Store::kCached), begin_(begin) {}
  ~RunWriter() { Flush(); }
  RunWriter(const RunWriter&) = delete;
  RunWriter& operator=(const RunWriter&) = delete;

  // Where to write the next `count` elements, count <= kTile.
  HWY_INLINE T* Next(size_t count) {
    if (direct_) {
      T* place = reinterpret_cast<T*>(tensor_.operand.output) + begin_;
      begin_ += static_cast<int64_t>(count);
      return place;
    }
    if (filled_ + count > kTile) Flush();
    T* place = tile_ + filled_;
    filled_ += count;
    return place;
  }

 private:
  void Flush() {
    if (filled_ == 0) return;
    const auto* tile = reinterpret_cast<const std::byte*>(tile_);
    if (tensor_.linear()) {
      StreamCopy(tile, tensor_.operand.output + begin_ * static_cast<int64_t>(sizeof(T)),
                 filled_ * sizeof(T));
    } else {
      ScatterTile(tensor_.operand, tensor_.shape, begin_, filled_, tile);
    }
    begin_ += static_cast<int64_t>(filled_);
    filled_ = 0;
  }

  const StridedTensor& tensor_;
  const bool direct_;
  int64_t begin_;
  size_t filled_ = 0;
  alignas(64) T tile_[kTile];
};

// Calls visit(begin, count) for the pieces of a run of `elements`, until the call is stopped.
template <typename Visit>
HWY_INLINE void ForEachPiece(Pace& pace, int64_t elements, const Visit& visit) {
  for (int64_t i = 0; i < elements && !pace.stopped(); i += kPiece) {
    const int64_t count = std::min(kPiece, elements - i);
    visit(i, static_cast<size_t>(count));
    pace.Goes(count);
  }
}

// Calls body(first, last) for chunks of [0, count), even ones of at most `most`.
template <typename Body>
void ParallelRanges(const Workers& workers, int64_t count, int64_t most, const Body& body) {
  const int64_t of_chunk = EvenChunk(count, most);
  workers.ParallelFor((count + of_chunk - 1) / of_chunk, [&](int64_t chunk) {
    const int64_t first = chunk * of_chunk;
    body(first, first + std::min(of_chunk, count - first));
  });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
