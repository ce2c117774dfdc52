// Swish: x σ(βx). SwishBackward: g (σ(βx) + βx σ(βx) (1 − σ(βx))).
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/swish.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/silu-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

void Swish(const KernelArgs& args) {
  WithArgument(ScalarOf(args, 0), [&](auto z) { Map<1>(args, SwishOf<decltype(z)>{z}); });
}

void SwishBackward(const KernelArgs& args) {
  WithArgument(ScalarOf(args, 0), [&](auto z) { Map<2>(args, SwishGradient<decltype(z)>{z}); });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(Swish, NoWorkspace);
OPSERVE_CPU_KERNEL(SwishBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
