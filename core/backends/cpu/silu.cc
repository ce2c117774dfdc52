// Silu: x σ(x). SiluBackward: g (σ(x) + x σ(x) (1 − σ(x))).
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/silu.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/silu-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

void Silu(const KernelArgs& args) { Map<1>(args, SwishOf<Itself>{}); }
void SiluBackward(const KernelArgs& args) { Map<2>(args, SwishGradient<Itself>{}); }

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(Silu, NoWorkspace);
OPSERVE_CPU_KERNEL(SiluBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
