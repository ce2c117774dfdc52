#include "core/backends/cpu/convolution_taps.h"

#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/convolution_taps.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/convolution_taps-inl.h"
#include "core/backends/cpu/runs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// NOLINTNEXTLINE(readability-non-const-parameter)
void PackTaps(const ConvolutionTaps& taps, const MatrixBlock& block, float* to, BlockSteps steps) {
  const TapPlace begin = TapPlaceOf(taps, block.col);
  WithFloatType(taps.dtype, [&](auto element) {
    for (int64_t r = 0; r < block.rows; ++r) {
      const TapReader<decltype(element)> reader(taps, block.batch, block.row + r);
      float* const row = to + r * steps.row;
      ForEachTapRun(taps, begin, block.cols, [&](const TapPlace& at, int64_t first, int64_t count) {
        reader.Read(at, 0, count, row + first * steps.col, steps.col);
      });
    }
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
