// Elements to floats of a packed block. Included once a SIMD target.

#include <cstdint>

#if defined(OPSERVE_CPU_WIDEN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_WIDEN_INL_H_
#undef OPSERVE_CPU_WIDEN_INL_H_
#else
#define OPSERVE_CPU_WIDEN_INL_H_
#endif

#include "core/backends/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// `count` elements `stride` apart, to floats `step` apart.
template <typename T>
HWY_INLINE void WidenElements(const T* from, int64_t stride, int64_t count, float* to,
                              int64_t step) {
  int64_t i = 0;
  if (stride == 1 && step == 1) {
    const FloatTag d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (; i + lanes <= count; i += lanes) hn::StoreU(LoadFloats(d, from + i), d, to + i);
  }
  for (; i < count; ++i) to[i * step] = ToFloat(from[i * stride]);
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
