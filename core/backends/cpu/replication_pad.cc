// ReplicationPad1d and ReplicationPad2d: planes with their borders repeated around them; the
// gradients add those up.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/replication_pad.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/pad-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

void ReplicationPad1d(const KernelArgs& args) { PadPlanes<PlaneAxis::Replicate>(args, 1); }
void ReplicationPad2d(const KernelArgs& args) { PadPlanes<PlaneAxis::Replicate>(args, 2); }
void ReplicationPad1dBackward(const KernelArgs& args) {
  PadPlaneGradients<PlaneAxis::Replicate>(args, 1);
}
void ReplicationPad2dBackward(const KernelArgs& args) {
  PadPlaneGradients<PlaneAxis::Replicate>(args, 2);
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(ReplicationPad1d, NoWorkspace);
OPSERVE_CPU_KERNEL(ReplicationPad1dBackward, NoWorkspace);
OPSERVE_CPU_KERNEL(ReplicationPad2d, NoWorkspace);
OPSERVE_CPU_KERNEL(ReplicationPad2dBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
