// UpsampleNearest2d: each output is the element at the place that the ratio of the sizes gives it;
// UpsampleNearest2dBackward adds up what has one element.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/upsample_nearest2d.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/plane_moves-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

void UpsampleNearest2d(const KernelArgs& args) {
  const Dims& in = args.call.input(0).shape;
  const Dims& out = args.call.output(0).desc.shape;
  const PlaneAxis rows = PlaneAxis::Nearest(in[2], out[2], 0);
  const PlaneAxis columns = PlaneAxis::Nearest(in[3], out[3], 0);
  WithFloatType(args.call.input(0).dtype,
                [&](auto element) { PlaneMoves<decltype(element)>(args, rows, columns, 2).Run(); });
}

// Attributes: output_size, input_size, scales_h, scales_w.
void UpsampleNearest2dBackward(const KernelArgs& args) {
  const Dims& in = args.call.output(0).desc.shape;
  const Dims& out = args.call.input(0).shape;
  const PlaneAxis rows = PlaneAxis::Nearest(in[2], out[2], args.call.attribute<double>(2));
  const PlaneAxis columns = PlaneAxis::Nearest(in[3], out[3], args.call.attribute<double>(3));
  WithFloatType(args.call.input(0).dtype, [&](auto element) {
    PlaneGradients<decltype(element)>(args, rows, columns).Run();
  });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(UpsampleNearest2d, NoWorkspace);
OPSERVE_CPU_KERNEL(UpsampleNearest2dBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
