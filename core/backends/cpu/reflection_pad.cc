// ReflectionPad1d and ReflectionPad2d: planes with their mirror images around them; the gradients
// add those up.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/reflection_pad.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/pad-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

void ReflectionPad1d(const KernelArgs& args) { PadPlanes<PlaneAxis::Reflect>(args, 1); }
void ReflectionPad2d(const KernelArgs& args) { PadPlanes<PlaneAxis::Reflect>(args, 2); }
void ReflectionPad1dBackward(const KernelArgs& args) {
  PadPlaneGradients<PlaneAxis::Reflect>(args, 1);
}
void ReflectionPad2dBackward(const KernelArgs& args) {
  PadPlaneGradients<PlaneAxis::Reflect>(args, 2);
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(ReflectionPad1d, NoWorkspace);
OPSERVE_CPU_KERNEL(ReflectionPad1dBackward, NoWorkspace);
OPSERVE_CPU_KERNEL(ReflectionPad2d, NoWorkspace);
OPSERVE_CPU_KERNEL(ReflectionPad2dBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
