// The vector loops of element-wise kernels. Included once a SIMD target by each operator's file;
// everything is in opserve::cpu::HWY_NAMESPACE.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "core/backends/cpu/elementwise.h"
#include "core/backends/cpu/pace.h"
#include "core/device/kernel.h"
#include "hwy/cache_control.h"

#if defined(OPSERVE_CPU_ELEMENTWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_ELEMENTWISE_INL_H_
#undef OPSERVE_CPU_ELEMENTWISE_INL_H_
#else
#define OPSERVE_CPU_ELEMENTWISE_INL_H_
#endif

#include "core/backends/cpu/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// One expression an input: a loop over the inputs would go through memory.
template <typename T, size_t... K>
HWY_INLINE std::array<FloatVec, sizeof...(K)> LoadEach(FloatTag d,
                                                       const Pointers<sizeof...(K), T>& in,
                                                       size_t i, std::index_sequence<K...>) {
  return {LoadFloats(d, in[K] + i)...};
}

template <size_t N, typename T>
HWY_INLINE std::array<FloatVec, N> LoadAll(FloatTag d, const Pointers<N, T>& in, size_t i) {
  return LoadEach<T>(d, in, i, std::make_index_sequence<N>());
}

template <typename T, size_t... K>
HWY_INLINE std::array<FloatVec, sizeof...(K)> LoadEachFirst(FloatTag d,
                                                            const Pointers<sizeof...(K), T>& in,
                                                            size_t i, size_t count,
                                                            std::index_sequence<K...>) {
  return {LoadFirst(d, in[K] + i, count)...};
}

template <size_t N, typename T>
HWY_INLINE std::array<FloatVec, N> LoadAllFirst(FloatTag d, const Pointers<N, T>& in, size_t i,
                                                size_t count) {
  return LoadEachFirst<T>(d, in, i, count, std::make_index_sequence<N>());
}

// Sanitizers instrument every line: there a kernel has its function once, as the compiler would
// take minutes for as many copies as it has loops.
#undef OPSERVE_APPLY_INLINE
#ifdef OPSERVE_SANITIZED
#define OPSERVE_APPLY_INLINE HWY_NOINLINE
#else
#define OPSERVE_APPLY_INLINE HWY_INLINE
#endif

template <size_t N, typename Op>
OPSERVE_APPLY_INLINE FloatVec Apply(const Op& op, FloatTag d, const std::array<FloatVec, N>& in) {
  return op(d, in);
}

// op of two vectors of each input.
template <typename T, typename Op, size_t... K>
HWY_INLINE FloatPair MapPair(const Op& op, FloatTag d, const Pointers<sizeof...(K), T>& in,
                             size_t i, std::index_sequence<K...>) {
  const std::array<FloatPair, sizeof...(K)> v = {LoadPair(d, in[K] + i)...};
  return {Apply(op, d, std::array<FloatVec, sizeof...(K)>{v[K].first...}),
          Apply(op, d, std::array<FloatVec, sizeof...(K)>{v[K].second...})};
}

// out[i] = op(in[0][i], …). By value: stores could change what is behind a reference.
template <size_t N, typename T, typename Op>
void MapRun(Op op, Pointers<N, T> in, T* out, size_t count) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    StorePair(MapPair<T>(op, d, in, i, std::make_index_sequence<N>()), d, out + i);
  }
  if (i + lanes <= count) {
    StoreFloats(Apply(op, d, LoadAll<N, T>(d, in, i)), d, out + i);
    i += lanes;
  }
  if (i < count) {
    const FloatVec last = Apply(op, d, LoadAllFirst<N, T>(d, in, i, count - i));
    StoreFirst(last, d, out + i, count - i);
  }
}

// Elements before the first at a multiple of the cache line, at most `count`.
template <typename T>
size_t CountToLine(const T* to, size_t count) {
  constexpr size_t kLine = 64;
  const size_t bytes = (kLine - reinterpret_cast<uintptr_t>(to) % kLine) % kLine;
  return std::min(bytes / sizeof(T), count);
}

// The same as MapRun, past the caches: for outputs that no cache would keep.
template <size_t N, typename T, typename Op>
void MapRunStreaming(Op op, Pointers<N, T> in, T* out, size_t count) {
  const FloatTag d;
  const size_t step = 2 * hn::Lanes(d);
  const size_t head = CountToLine(out, count);
  MapRun<N, T>(op, in, out, head);
  size_t i = head;
  for (; i + step <= count; i += step) {
    StreamPair(MapPair<T>(op, d, in, i, std::make_index_sequence<N>()), d, out + i);
  }
  hwy::FlushStream();
  for (const T*& from : in) from += i;
  MapRun<N, T>(op, in, out + i, count - i);
}

// A sum of float vectors, kept in double lanes. The order of additions follows from the order of
// Add alone.
class DoubleSum {
 public:
  // Written out: an implicit one would not be compiled for the target.
  HWY_INLINE DoubleSum() : low_(hn::Zero(dd_)), high_(hn::Zero(dd_)) {}

#if HWY_TARGET == HWY_SCALAR
  HWY_INLINE void Add(FloatTag /*d*/, FloatVec v) { low_ = hn::Add(low_, hn::PromoteTo(dd_, v)); }
  double Total() const { return hn::GetLane(low_); }
#else
  HWY_INLINE void Add(FloatTag /*d*/, FloatVec v) {
    const hn::Half<FloatTag> half;
    low_ = hn::Add(low_, hn::PromoteTo(dd_, hn::LowerHalf(half, v)));
    high_ = hn::Add(high_, hn::PromoteTo(dd_, hn::UpperHalf(half, v)));
  }
  double Total() const { return hn::GetLane(hn::SumOfLanes(dd_, hn::Add(low_, high_))); }
#endif

 private:
  const hn::ScalableTag<double> dd_;
  hn::Vec<hn::ScalableTag<double>> low_;
  hn::Vec<hn::ScalableTag<double>> high_;
};

// Σ op(in[0][i], …): four vectors at a time are added as floats, these sums as doubles.
template <size_t N, typename T, typename Op>
double SumRun(Op op, Pointers<N, T> in, size_t count) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const auto term = [&](size_t i) HWY_ATTR { return Apply(op, d, LoadAll<N, T>(d, in, i)); };
  DoubleSum sum;
  size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    const FloatVec front = hn::Add(term(i), term(i + lanes));
    const FloatVec back = hn::Add(term(i + 2 * lanes), term(i + 3 * lanes));
    sum.Add(d, hn::Add(front, back));
  }
  for (; i + lanes <= count; i += lanes) sum.Add(d, term(i));
  double total = sum.Total();
  if (i < count) {
    HWY_ALIGN float rest[HWY_MAX_BYTES / sizeof(float)] = {};
    hn::Store(Apply(op, d, LoadAllFirst<N, T>(d, in, i, count - i)), d, rest);
    for (size_t k = 0; k < count - i; ++k) total += static_cast<double>(rest[k]);
  }
  return total;
}

// A chunk, in parts: the function of the one that begins with element i is op_at(i).
template <size_t N, typename T, typename OpAt>
void MapParts(const ElementwiseCall& call, int64_t begin, int64_t end, const OpAt& op_at) {
  Sources<N, T> sources = MakeSources<N, T>(call, std::make_index_sequence<N>());
  TileSink<T> sink(call);
  const MapSteps<N, T> steps(call, sources, sink);
  for (int64_t i = begin; i < end;) {
    const int64_t step = steps.Count(i, end);
    const auto count = static_cast<size_t>(step);
    const Pointers<N, T> in = ReadAll<N, T>(sources, i, count);
    T* out = sink.Place(i);
    if (steps.streamed()) {
      MapRunStreaming<N, T>(op_at(i), in, out, count);
    } else {
      MapRun<N, T>(op_at(i), in, out, count);
    }
    sink.Commit(i, count);
    i += step;
  }
}

// An Op that has, for an element of its last input, the function of the others.
template <typename Op>
concept OfRows = requires(const Op& op) {
  op.OfLast(1.0f);
};

template <size_t N, typename T, typename Op>
void MapChunk(const ElementwiseCall& call, const Op& op, int64_t begin, int64_t end) {
  if constexpr (OfRows<Op>) {
    if (call.last_is_of_rows) {
      TileSource<T> last(call, call.inputs[N - 1]);
      return MapParts<N - 1, T>(call, begin, end,
                                [&](int64_t i) { return op.OfLast(ToFloat(*last.Read(i, 1))); });
    }
  }
  MapParts<N, T>(call, begin, end, [&](int64_t /*i*/) { return op; });
}

template <size_t N, typename T, typename Op>
double SumChunk(const ElementwiseCall& call, const Op& op, int64_t begin, int64_t end) {
  Sources<N, T> sources = MakeSources<N, T>(call, std::make_index_sequence<N>());
  double sum = 0;
  for (int64_t i = begin; i < end; i += static_cast<int64_t>(kTile)) {
    const auto count = std::min(kTile, static_cast<size_t>(end - i));
    sum += SumRun<N, T>(op, ReadAll<N, T>(sources, i, count), count);
  }
  return sum;
}

// Every element of the output: op(d, {the first N inputs…}) in float, rounded once. Op is called as
// FloatVec operator()(FloatTag, const std::array<FloatVec, N>&) const.
template <size_t N, typename Op>
void Map(const KernelArgs& args, const Op& op, size_t output = 0) {
  ElementwiseCall call = MakeMap(args, N, output);
  if (OfRows<Op>) VisitRowsOfLast(call);
  WithFloatType(call.tile_dtype, [&](auto element) {
    using T = decltype(element);
    args.workers.ParallelFor(NumChunks(call), [&](int64_t chunk) {
      MapChunk<N, T>(call, op, ChunkBegin(call, chunk), ChunkEnd(call, chunk));
    });
  });
}

// The sum over the space of op(d, {inputs…}): in float within a tile, in double over the tiles, in
// the space's order. `partial` has NumChunks entries. No sum at all when the call was stopped.
template <size_t N, typename Op>
double Sum(const KernelArgs& args, const ElementwiseCall& call, const Op& op,
           std::span<double> partial) {
  WithFloatType(call.tile_dtype, [&](auto element) {
    using T = decltype(element);
    args.workers.ParallelFor(NumChunks(call), [&](int64_t chunk) {
      partial[static_cast<size_t>(chunk)] =
          SumChunk<N, T>(call, op, ChunkBegin(call, chunk), ChunkEnd(call, chunk));
    });
  });
  Pace pace(args.workers);
  double sum = 0;
  for (const auto [begin, end] : pace.InBlocks(NumChunks(call))) {
    for (int64_t i = begin; i < end; ++i) sum += partial[static_cast<size_t>(i)];
  }
  return sum;
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
