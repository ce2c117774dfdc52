// Gelu and GeluV2: x Φ(x), or by tanh; GeluBackward and GeluBackwardV2.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/gelu.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/gelu-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

void Gelu(const KernelArgs& args) { Map<1>(args, GeluOf<GeluExact>()); }
void GeluBackward(const KernelArgs& args) { Map<2>(args, GeluGradient<GeluExact>()); }

void GeluV2(const KernelArgs& args) {
  if (args.call.attribute<int64_t>(0) == 0) return Gelu(args);
  Map<1>(args, GeluOf<GeluByTanh>());
}

void GeluBackwardV2(const KernelArgs& args) {
  if (args.call.attribute<int64_t>(0) == 0) return GeluBackward(args);
  Map<2>(args, GeluGradient<GeluByTanh>());
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(Gelu, NoWorkspace);
OPSERVE_CPU_KERNEL(GeluBackward, NoWorkspace);
OPSERVE_CPU_KERNEL(GeluV2, NoWorkspace);
OPSERVE_CPU_KERNEL(GeluBackwardV2, NoWorkspace);

}  // namespace opserve::cpu
#endif
