// The tensors of element-wise kernels, tile by tile. Included once a SIMD target;
// everything is in opserve::cpu::HWY_NAMESPACE.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/backends/cpu/elements.h"
#include "core/backends/cpu/elementwise.h"

#if defined(OPSERVE_CPU_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_TILES_INL_H_
#undef OPSERVE_CPU_TILES_INL_H_
#else
#define OPSERVE_CPU_TILES_INL_H_
#endif

#include "core/backends/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// out[i] = ToFloat(in[i])
template <typename T>
void Widen(const T* in, size_t count, float* out) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(LoadFloats(d, in + i), d, out + i);
  for (; i < count; ++i) out[i] = ToFloat(in[i]);
}

// out[i] = in[i] rounded to T
template <typename T>
void Narrow(const float* in, size_t count, T* out) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) StoreFloats(hn::LoadU(d, in + i), d, out + i);
  for (; i < count; ++i) Round(in[i], out[i]);
}

inline void WidenTile(DType from, DType promoted, const std::byte* in, size_t count, float* out) {
  switch (from) {
    case DType::kFloat32:
      return Widen(reinterpret_cast<const float*>(in), count, out);
    case DType::kFloat16:
      return Widen(reinterpret_cast<const Float16*>(in), count, out);
    case DType::kBFloat16:
      return Widen(reinterpret_cast<const BFloat16*>(in), count, out);
    default:
      return ConvertIntegerTile(from, promoted, in, count, out);
  }
}

inline void NarrowTile(DType to, const float* in, size_t count, std::byte* out) {
  switch (to) {
    case DType::kFloat16:
      return Narrow(in, count, reinterpret_cast<Float16*>(out));
    case DType::kBFloat16:
      return Narrow(in, count, reinterpret_cast<BFloat16*>(out));
    default:
      return Narrow(in, count, reinterpret_cast<float*>(out));
  }
}

// Whether `operand` is read and written where it is, a part of a row at a time.
inline bool LiesInRows(const ElementwiseCall& call, const Operand& operand) {
  return call.row > 0 && operand.strides.back() == 1 && operand.dtype == call.tile_dtype;
}

// One input of a chunk, tile by tile, as elements of T.
template <typename T>
class TileSource {
 public:
  TileSource(const ElementwiseCall& call, const Operand& operand) : call_(call), operand_(operand) {
    direct_ = operand.linear && operand.dtype == call.tile_dtype;
    in_rows_ = !direct_ && LiesInRows(call, operand);
  }

  bool direct() const { return direct_; }
  bool in_place() const { return direct_ || in_rows_; }

  const T* Read(int64_t begin, size_t count) {
    const T* first = reinterpret_cast<const T*>(operand_.input);
    if (direct_) return first + (begin - operand_.first);
    if (in_rows_) return first + OffsetOf(operand_, call_.shape, begin);
    if (operand_.constant && filled_ >= count) return tile_;
    filled_ = count;
    if (operand_.dtype == call_.tile_dtype) {
      GatherTile(operand_, call_.shape, begin, count, reinterpret_cast<std::byte*>(tile_));
    } else {
      ReadOther(begin, count);
    }
    return tile_;
  }

 private:
  // Another dtype than the tile's, which is float then.
  void ReadOther(int64_t begin, size_t count) {
    alignas(64) std::byte raw[kTile * sizeof(uint64_t)];
    const std::byte* in = raw;
    if (operand_.linear) {
      in = operand_.input + static_cast<size_t>(begin - operand_.first) * DTypeSize(operand_.dtype);
    } else {
      GatherTile(operand_, call_.shape, begin, count, raw);
    }
    WidenTile(operand_.dtype, call_.promoted, in, count, reinterpret_cast<float*>(tile_));
  }

  const ElementwiseCall& call_;
  const Operand& operand_;
  bool direct_ = false;
  bool in_rows_ = false;
  size_t filled_ = 0;
  alignas(64) T tile_[kTile];
};

// The output of a chunk, tile by tile.
template <typename T>
class TileSink {
 public:
  explicit TileSink(const ElementwiseCall& call) : call_(call), operand_(call.output) {
    direct_ = operand_.linear && operand_.dtype == call.tile_dtype;
    in_rows_ = !direct_ && LiesInRows(call, operand_);
  }

  bool direct() const { return direct_; }
  bool in_place() const { return direct_ || in_rows_; }

  // Where to put elements [begin, begin + count); then Commit.
  T* Place(int64_t begin) {
    T* first = reinterpret_cast<T*>(operand_.output);
    if (direct_) return first + (begin - operand_.first);
    return in_rows_ ? first + OffsetOf(operand_, call_.shape, begin) : tile_;
  }

  void Commit(int64_t begin, size_t count) {
    if (in_place()) return;
    if (operand_.dtype == call_.tile_dtype) {
      ScatterTile(operand_, call_.shape, begin, count, reinterpret_cast<const std::byte*>(tile_));
    } else {
      CommitOther(begin, count);
    }
  }

 private:
  void CommitOther(int64_t begin, size_t count) {
    const float* in = reinterpret_cast<const float*>(tile_);
    if (operand_.linear) {
      const auto at = static_cast<size_t>(begin - operand_.first);
      NarrowTile(operand_.dtype, in, count, operand_.output + at * DTypeSize(operand_.dtype));
      return;
    }
    alignas(64) std::byte narrow[kTile * sizeof(float)];
    NarrowTile(operand_.dtype, in, count, narrow);
    ScatterTile(operand_, call_.shape, begin, count, narrow);
  }

  const ElementwiseCall& call_;
  const Operand& operand_;
  bool direct_ = false;
  bool in_rows_ = false;
  alignas(64) T tile_[kTile];
};

template <size_t N, typename T>
using Sources = std::array<TileSource<T>, N>;

template <size_t N, typename T, size_t... K>
Sources<N, T> MakeSources(const ElementwiseCall& call, std::index_sequence<K...>) {
  return {TileSource<T>(call, call.inputs[K])...};
}

template <size_t N, typename T>
using Pointers = std::array<const T*, N>;

template <size_t N, typename T>
Pointers<N, T> ReadAll(Sources<N, T>& sources, int64_t begin, size_t count) {
  Pointers<N, T> in;
  for (size_t k = 0; k < N; ++k) in[k] = sources[k].Read(begin, count);
  return in;
}

// Which parts of a chunk are mapped at a time.
template <size_t N, typename T>
class MapSteps {
 public:
  MapSteps(const ElementwiseCall& call, const Sources<N, T>& sources, const TileSink<T>& sink)
      : row_(call.row) {
    direct_ = row_ == 0 && sink.direct();
    in_place_ = sink.in_place();
    for (const TileSource<T>& source : sources) {
      direct_ = direct_ && source.direct();
      in_place_ = in_place_ && source.in_place();
    }
    streamed_ = (direct_ || (row_ >= static_cast<int64_t>(kTile) && sink.in_place())) &&
                IsStreamed(call.written * static_cast<int64_t>(sizeof(T)));
  }

  // Of those from `begin` to `end`.
  int64_t Count(int64_t begin, int64_t end) const {
    if (direct_) return end - begin;
    int64_t most = end - begin;
    if (!in_place_) most = std::min(most, static_cast<int64_t>(kTile));
    return row_ > 0 ? std::min(most, row_ - begin % row_) : most;
  }
  bool streamed() const { return streamed_; }

 private:
  const int64_t row_;
  bool direct_ = false;
  bool in_place_ = false;
  bool streamed_ = false;
};

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
