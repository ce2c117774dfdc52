// Hardswish: x min(max(x + 3, 0), 6) / 6.
// HardswishBackward: 0 where x <= −3, g where x >= 3, g (x / 3 + ½) between.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/hardswish.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

struct HardswishOf {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    const FloatVec six = hn::Set(d, 6.0f);
    const FloatVec shifted = hn::Add(in[0], hn::Set(d, 3.0f));
    // A NaN comes back by the product.
    const FloatVec share = hn::Div(hn::Min(hn::Max(shifted, hn::Zero(d)), six), six);
    return hn::Mul(in[0], share);
  }
};

struct HardswishGradient {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    const FloatVec three = hn::Set(d, 3.0f);
    const FloatVec slope = hn::Add(hn::Div(in[1], three), hn::Set(d, 0.5f));
    FloatVec y = hn::Mul(in[0], slope);
    y = hn::IfThenZeroElse(hn::Le(in[1], hn::Neg(three)), y);
    return hn::IfThenElse(hn::Ge(in[1], three), in[0], y);
  }
};

void Hardswish(const KernelArgs& args) { Map<1>(args, HardswishOf()); }
void HardswishBackward(const KernelArgs& args) { Map<2>(args, HardswishGradient()); }

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(Hardswish, NoWorkspace);
OPSERVE_CPU_KERNEL(HardswishBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
