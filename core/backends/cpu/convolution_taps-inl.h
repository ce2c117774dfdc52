// Where along a dimension a convolution's taps have elements. Included once a SIMD target.

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/backends/cpu/convolution_taps.h"

#if defined(OPSERVE_CPU_CONVOLUTION_TAPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_CONVOLUTION_TAPS_INL_H_
#undef OPSERVE_CPU_CONVOLUTION_TAPS_INL_H_
#else
#define OPSERVE_CPU_CONVOLUTION_TAPS_INL_H_
#endif

#include "core/backends/cpu/widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// Elements of a run that exist: the first position, its source, and their number.
struct TapSources {
  int64_t position;
  int64_t source;
  int64_t count;
};

HWY_INLINE int64_t DivideTapUp(int64_t a, int64_t b) {
  return b == 1 ? a : a / b + (a % b == 0 ? 0 : 1);
}

// Of positions [begin, end) of a map without a divisor; `shift` is its sum for the place.
HWY_INLINE TapSources StridedTapSources(int64_t begin, int64_t end, int64_t stride, int64_t shift,
                                        int64_t extent) {
  const int64_t first = shift >= 0 ? begin : std::max(begin, DivideTapUp(-shift, stride));
  const int64_t past = extent - shift;
  const int64_t last = past <= 0 ? 0 : std::min(end, DivideTapUp(past, stride));
  return {first, first < last ? first * stride + shift : 0, last - first};
}

// Of a map with one.
HWY_INLINE TapSources SpreadTapSources(int64_t begin, int64_t end, int64_t divisor, int64_t shift,
                                       int64_t extent) {
  const int64_t source = DivideTapUp(std::max<int64_t>(begin + shift, 0), divisor);
  if (source >= extent) return {begin, 0, 0};
  const int64_t position = source * divisor - shift;
  if (position >= end) return {begin, 0, 0};
  return {position, source, std::min(DivideTapUp(end - position, divisor), extent - source)};
}

HWY_INLINE void ZeroTaps(float* to, int64_t count, int64_t step) {
  if (step == 1) {
    std::fill_n(to, count, 0.0F);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i * step] = 0;
  }
}

// Sample and position of a column.
using TapPlace = std::array<int64_t, 4>;

inline TapPlace TapPlaceOf(const ConvolutionTaps& taps, int64_t col) {
  TapPlace at = {};
  for (size_t dim = 3; dim > 0; --dim) {
    at[dim] = col % taps.positions[dim - 1];
    col /= taps.positions[dim - 1];
  }
  at[0] = col;
  return at;
}

// Calls visit(at, first, count) for the runs of positions along the last dimension that `cols`
// columns from `at` on are.
template <typename Visit>
HWY_INLINE void ForEachTapRun(const ConvolutionTaps& taps, TapPlace at, int64_t cols,
                              const Visit& visit) {
  for (int64_t first = 0; first < cols;) {
    const int64_t count = std::min(cols - first, taps.positions[2] - at[3]);
    visit(at, first, count);
    first += count;
    at[3] = 0;
    if (++at[2] < taps.positions[1]) continue;
    at[2] = 0;
    if (++at[1] < taps.positions[0]) continue;
    at[1] = 0;
    ++at[0];
  }
}

// What positions of one place of the kernel meet.
template <typename T>
class TapReader {
 public:
  // Element `index` of the kernels, channel of the group and place.
  TapReader(const ConvolutionTaps& taps, int64_t group, int64_t index) : taps_(taps) {
    for (size_t dim = 3; dim > 0; --dim) {
      const int64_t place = index % taps.kernel[dim - 1];
      index /= taps.kernel[dim - 1];
      shifts_[dim - 1] = place * taps.maps[dim - 1].step + taps.maps[dim - 1].shift;
    }
    channel_ = reinterpret_cast<const T*>(taps.first) +
               (group * taps.channels + index) * taps.channel_stride;
  }

  // `count` positions from `at` on, `further` along the last dimension, to floats `step` apart.
  HWY_INLINE void Read(const TapPlace& at, int64_t further, int64_t count, float* to,
                       int64_t step) const {
    const int64_t outer = SourceAt(0, at[1]);
    const int64_t middle = SourceAt(1, at[2]);
    if (outer < 0 || middle < 0) return ZeroTaps(to, count, step);
    const TapMap& map = taps_.maps[2];
    const int64_t begin = at[3] + further;
    const int64_t end = begin + count;
    const TapSources sources =
        map.divisor == 1 ? StridedTapSources(begin, end, map.stride, shifts_[2], taps_.extents[2])
                         : SpreadTapSources(begin, end, map.divisor, shifts_[2], taps_.extents[2]);
    if (sources.count < count) ZeroTaps(to, count, step);
    if (sources.count <= 0) return;
    // Of a single element no distance is taken: it may be any number.
    const bool one = sources.count == 1;
    const T* from = channel_ + at[0] * taps_.batch_stride + outer * taps_.strides[0] +
                    middle * taps_.strides[1] + sources.source * taps_.strides[2];
    WidenElements(from, one ? 1 : map.stride * taps_.strides[2], sources.count,
                  to + (sources.position - begin) * step, one ? 1 : map.divisor * step);
  }

 private:
  // Of an outer dimension; -1 = there is none.
  HWY_INLINE int64_t SourceAt(size_t dim, int64_t position) const {
    const TapMap& map = taps_.maps[dim];
    int64_t source = position * map.stride + shifts_[dim];
    if (map.divisor != 1) {
      if (source % map.divisor != 0) return -1;
      source /= map.divisor;
    }
    return source >= 0 && source < taps_.extents[dim] ? source : -1;
  }

  const ConvolutionTaps& taps_;
  const T* channel_;
  Extents3 shifts_ = {};
};

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
