// MseLoss: (a − b)². MseLossBackward: 2 (a − b) · (g · k).
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/mse_loss.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/loss-inl.h"
#include "core/backends/cpu/reduced_output.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

struct SquaredDifference {
  HWY_INLINE FloatVec operator()(FloatTag /*d*/, const std::array<FloatVec, 2>& in) const {
    const FloatVec x = hn::Sub(in[0], in[1]);
    return hn::Mul(x, x);
  }
};

struct SquaredDifferenceGradient {
  float k;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 3>& in) const {
    const FloatVec x = hn::Sub(in[1], in[2]);
    return hn::Mul(hn::Add(x, x), hn::Mul(in[0], hn::Set(d, k)));
  }
};

void MseLoss(const KernelArgs& args) { RunLoss<2>(args, SquaredDifference()); }

void MseLossBackward(const KernelArgs& args) {
  Map<3>(args, SquaredDifferenceGradient{GradientFactor(args.call, ReductionOf(args.call, 0))});
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(MseLoss, LossWorkspace);
OPSERVE_CPU_KERNEL(MseLossBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
