// Softshrink: x − λ where x > λ, x + λ where x < −λ, else 0. SoftshrinkBackward: 0 where |x| <= λ,
// else g.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/softshrink.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

struct Shrink {
  float lambda;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    const FloatVec l = hn::Set(d, lambda);
    // A NaN is not inside, and stays one.
    const FloatVec moved = hn::Sub(in[0], hn::CopySign(l, in[0]));
    return hn::IfThenZeroElse(hn::Le(hn::Abs(in[0]), l), moved);
  }
};

struct ShrinkGradient {
  float lambda;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    return hn::IfThenZeroElse(hn::Le(hn::Abs(in[1]), hn::Set(d, lambda)), in[0]);
  }
};

void Softshrink(const KernelArgs& args) { Map<1>(args, Shrink{ScalarOf(args, 0)}); }
void SoftshrinkBackward(const KernelArgs& args) { Map<2>(args, ShrinkGradient{ScalarOf(args, 0)}); }

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(Softshrink, NoWorkspace);
OPSERVE_CPU_KERNEL(SoftshrinkBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
