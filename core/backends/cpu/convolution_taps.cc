#include "core/backends/cpu/convolution_taps.h"

#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/convolution_taps.cc"
#include "hwy/foreach_target.h"

#include <algorithm>

#include "core/backends/cpu/runs-inl.h"
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

// Packs rows of a block.
template <typename T>
class TapPacker {
 public:
  TapPacker(const ConvolutionTaps& taps, const MatrixBlock& block, float* to, BlockSteps steps)
      : taps_(taps), to_(to), steps_(steps), cols_(block.cols) {
    int64_t rest = block.col;
    for (size_t dim = 3; dim > 0; --dim) {
      begin_[dim] = rest % taps.positions[dim - 1];
      rest /= taps.positions[dim - 1];
    }
    begin_[0] = rest;
  }

  // Element `index` of the kernels.
  HWY_INLINE void PackRow(int64_t group, int64_t index, int64_t row) {
    Extents3 place = {};
    for (size_t dim = 3; dim > 0; --dim) {
      place[dim - 1] = index % taps_.kernel[dim - 1];
      index /= taps_.kernel[dim - 1];
    }
    const T* const channel = reinterpret_cast<const T*>(taps_.first) +
                             (group * taps_.channels + index) * taps_.channel_stride;
    for (size_t dim = 0; dim < 3; ++dim)
      shifts_[dim] = place[dim] * taps_.maps[dim].step + taps_.maps[dim].shift;
    std::array<int64_t, 4> at = begin_;
    float* to = to_ + row * steps_.row;
    for (int64_t left = cols_; left > 0;) {
      const int64_t count = std::min(left, taps_.positions[2] - at[3]);
      PackRun(channel + at[0] * taps_.batch_stride, at, count, to);
      left -= count;
      to += count * steps_.col;
      at[3] = 0;
      if (++at[2] < taps_.positions[1]) continue;
      at[2] = 0;
      if (++at[1] < taps_.positions[0]) continue;
      at[1] = 0;
      ++at[0];
    }
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

  HWY_INLINE void PackRun(const T* plane, const std::array<int64_t, 4>& at, int64_t count,
                          float* to) const {
    const int64_t outer = SourceAt(0, at[1]);
    const int64_t middle = SourceAt(1, at[2]);
    if (outer < 0 || middle < 0) return Zeros(to, count);
    const TapMap& map = taps_.maps[2];
    const int64_t end = at[3] + count;
    const TapSources sources =
        map.divisor == 1 ? StridedTapSources(at[3], end, map.stride, shifts_[2], taps_.extents[2])
                         : SpreadTapSources(at[3], end, map.divisor, shifts_[2], taps_.extents[2]);
    if (sources.count < count) Zeros(to, count);
    if (sources.count <= 0) return;
    // Of a single element no distance is taken: it may be any number.
    const bool one = sources.count == 1;
    const int64_t stride = one ? 1 : map.stride * taps_.strides[2];
    const int64_t step = one ? 1 : map.divisor * steps_.col;
    const T* from = plane + outer * taps_.strides[0] + middle * taps_.strides[1] +
                    sources.source * taps_.strides[2];
    WidenElements(from, stride, sources.count, to + (sources.position - at[3]) * steps_.col, step);
  }

  HWY_INLINE void Zeros(float* to, int64_t count) const {
    if (steps_.col == 1) {
      std::fill_n(to, count, 0.0F);
    } else {
      for (int64_t i = 0; i < count; ++i) to[i * steps_.col] = 0;
    }
  }

  const ConvolutionTaps& taps_;
  float* const to_;
  const BlockSteps steps_;
  const int64_t cols_;
  std::array<int64_t, 4> begin_ = {};  // sample and position of the first column
  Extents3 shifts_ = {};               // of the row's place
};

// NOLINTNEXTLINE(readability-non-const-parameter)
void PackTaps(const ConvolutionTaps& taps, const MatrixBlock& block, float* to, BlockSteps steps) {
  WithFloatType(taps.dtype, [&](auto element) {
    TapPacker<decltype(element)> packer(taps, block, to, steps);
    for (int64_t r = 0; r < block.rows; ++r) packer.PackRow(block.batch, block.row + r, r);
  });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

HWY_EXPORT(PackTaps);

void ConvolutionTaps::Pack(const MatrixBlock& block, float* to, BlockSteps steps) const {
  HWY_DYNAMIC_DISPATCH(PackTaps)(*this, block, to, steps);
}

bool ConvolutionTaps::IsTensor() const {
  for (size_t i = 0; i < 3; ++i) {
    const TapMap& map = maps[i];
    if (kernel[i] != 1 || map.stride != 1 || map.shift != 0 || map.divisor != 1) return false;
  }
  return positions == extents;
}

}  // namespace opserve::cpu
#endif
