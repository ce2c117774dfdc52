// AdaptiveAvgPool2d: the means of windows that share a plane out; AdaptiveAvgPool2dBackward.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/adaptive_avg_pool2d.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/planes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

inline PlaneAxis SharedAxis(size_t axis, const TensorDesc& in, const TensorDesc& out) {
  return PlaneAxis::Adaptive(in.shape[in.shape.size() - 2 + axis],
                             out.shape[out.shape.size() - 2 + axis]);
}

void AdaptiveAvgPool2d(const KernelArgs& args) {
  const TensorDesc& in = args.call.input(0);
  const TensorDesc& out = args.call.output(0).desc;
  WithFloatType(in.dtype, [&](auto element) {
    PlaneSums<decltype(element)>(args, SharedAxis(0, in, out), SharedAxis(1, in, out)).Run();
  });
}

void AdaptiveAvgPool2dBackward(const KernelArgs& args) {
  const TensorDesc& in = args.call.output(0).desc;
  const TensorDesc& out = args.call.input(0);
  WithFloatType(in.dtype, [&](auto element) {
    PlaneGradients<decltype(element)>(args, SharedAxis(0, in, out), SharedAxis(1, in, out)).Run();
  });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(AdaptiveAvgPool2d, NoWorkspace);
OPSERVE_CPU_KERNEL(AdaptiveAvgPool2dBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
