// Runs of elements as floats, sums of them as doubles, and the way back. Included once a SIMD
// target.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(OPSERVE_CPU_FLOAT_RUNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_FLOAT_RUNS_INL_H_
#undef OPSERVE_CPU_FLOAT_RUNS_INL_H_
#else
#define OPSERVE_CPU_FLOAT_RUNS_INL_H_
#endif

#include "core/backends/cpu/runs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// Elements as floats.
template <typename T>
class FloatReader {
 public:
  explicit FloatReader(const StridedTensor& tensor) : reader_(tensor) {}

  // Up to kTile. Valid until the next call.
  HWY_INLINE const float* Read(int64_t begin, int64_t count) {
    const T* from = reader_.Read(begin, static_cast<size_t>(count));
    if constexpr (std::is_same_v<T, float>) {
      return from;
    } else {
      const FloatTag d;
      const size_t lanes = hn::Lanes(d);
      const auto n = static_cast<size_t>(count);
      size_t i = 0;
      for (; i + lanes <= n; i += lanes) hn::StoreU(LoadFloats(d, from + i), d, floats_ + i);
      for (; i < n; ++i) floats_[i] = ToFloat(from[i]);
      return floats_;
    }
  }

 private:
  RunReader<T> reader_;
  alignas(64) float floats_[std::is_same_v<T, float> ? 1 : kTile] = {};
};

// Floats, each rounded.
template <typename T>
HWY_INLINE void StoreRun(const float* from, int64_t count, T* to) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const auto n = static_cast<size_t>(count);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) StoreFloats(hn::LoadU(d, from + i), d, to + i);
  for (; i < n; ++i) Round(from[i], to[i]);
}

using SumTag = hn::ScalableTag<double>;
using SumVec = hn::Vec<SumTag>;

HWY_INLINE SumVec LoadSums(SumTag d, const double* from) { return hn::LoadU(d, from); }
HWY_INLINE SumVec LoadSums(SumTag d, const float* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, SumTag>(), from));
}

// sums[i] = 0 + weight · x[i], which is never −0.
template <typename T>
HWY_INLINE void SetWeighted(const T* x, size_t count, double weight, double* sums) {
  const SumTag d;
  const size_t lanes = hn::Lanes(d);
  const SumVec w = hn::Set(d, weight);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::MulAdd(LoadSums(d, x + i), w, hn::Zero(d)), d, sums + i);
  for (; i < count; ++i) sums[i] = weight * static_cast<double>(x[i]) + 0.0;
}

// sums[i] += weight · x[i]
template <typename T>
HWY_INLINE void AddWeighted(const T* x, size_t count, double weight, double* sums) {
  const SumTag d;
  const size_t lanes = hn::Lanes(d);
  const SumVec w = hn::Set(d, weight);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::MulAdd(LoadSums(d, x + i), w, hn::LoadU(d, sums + i)), d, sums + i);
  for (; i < count; ++i) sums[i] += weight * static_cast<double>(x[i]);
}

// to[i] = weight · sums[i], rounded.
HWY_INLINE void RoundWeighted(const double* sums, size_t count, double weight, float* to) {
  size_t i = 0;
// The emulated targets' conversion stops at the largest float.
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  const SumTag d;
  const hn::Rebind<float, SumTag> df;
  const size_t lanes = hn::Lanes(d);
  const SumVec w = hn::Set(d, weight);
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::DemoteTo(df, hn::Mul(hn::LoadU(d, sums + i), w)), df, to + i);
#endif
  for (; i < count; ++i) to[i] = static_cast<float>(weight * sums[i]);
}

// weight · sums, each rounded.
template <typename T>
HWY_INLINE void StoreSums(const double* sums, int64_t count, double weight, T* to) {
  if constexpr (std::is_same_v<T, float>) {
    RoundWeighted(sums, static_cast<size_t>(count), weight, to);
  } else {
    constexpr int64_t kAtOnce = 512;
    alignas(64) float floats[kAtOnce];
    for (int64_t i = 0; i < count; i += kAtOnce) {
      const int64_t n = std::min(kAtOnce, count - i);
      RoundWeighted(sums + i, static_cast<size_t>(n), weight, floats);
      StoreRun(floats, n, to + i);
    }
  }
}

// sums[i] /= divisor.
HWY_INLINE void DivideSums(double* sums, int64_t count, double divisor) {
  const SumTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const SumVec by = hn::Set(d, divisor);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::Div(hn::LoadU(d, sums + i), by), d, sums + i);
  for (; i < count; ++i) sums[i] /= divisor;
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
