// L1Loss: |a − b|. L1LossBackward: sign(a − b) · (g · k), sign(0) = sign(NaN) = 0.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/l1_loss.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/loss-inl.h"
#include "core/backends/cpu/reduced_output.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

void L1Loss(const KernelArgs& args) { RunLoss<2>(args, AbsoluteDifference()); }

void L1LossBackward(const KernelArgs& args) {
  Map<3>(args, SignTimesGradient{GradientFactor(args.call, ReductionOf(args.call, 0))});
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(L1Loss, LossWorkspace);
OPSERVE_CPU_KERNEL(L1LossBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
