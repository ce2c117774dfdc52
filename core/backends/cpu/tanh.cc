// Tanh. TanhBackward: g · (1 − y) (1 + y).
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/tanh.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

struct HyperbolicTangent {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    return TanhOf(d, in[0]);
  }
};

struct HyperbolicTangentGradient {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    const FloatVec one = hn::Set(d, 1.0f);
    // 1 − y² would cancel where there is no fused multiply-add.
    return hn::Mul(in[0], hn::Mul(hn::Sub(one, in[1]), hn::Add(one, in[1])));
  }
};

void Tanh(const KernelArgs& args) { Map<1>(args, HyperbolicTangent()); }
void TanhBackward(const KernelArgs& args) { Map<2>(args, HyperbolicTangentGradient()); }

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(Tanh, NoWorkspace);
OPSERVE_CPU_KERNEL(TanhBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
