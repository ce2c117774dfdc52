// LeakyRelu: x where x > 0, slope x elsewhere. LeakyReluBackward: g or slope g, likewise.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/leaky_relu.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

struct Leak {
  float slope;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    const FloatVec y = hn::Mul(in[0], hn::Set(d, slope));
    return hn::IfThenElse(hn::Gt(in[0], hn::Zero(d)), in[0], y);
  }
};

struct LeakGradient {
  float slope;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    const FloatVec y = hn::Mul(in[0], hn::Set(d, slope));
    return hn::IfThenElse(hn::Gt(in[1], hn::Zero(d)), in[0], y);
  }
};

void LeakyRelu(const KernelArgs& args) { Map<1>(args, Leak{ScalarOf(args, 0)}); }
void LeakyReluBackward(const KernelArgs& args) { Map<2>(args, LeakGradient{ScalarOf(args, 0)}); }

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(LeakyRelu, NoWorkspace);
OPSERVE_CPU_KERNEL(LeakyReluBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
