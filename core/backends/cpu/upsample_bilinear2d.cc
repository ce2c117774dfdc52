// UpsampleBilinear2d: each output lies between two rows and two columns; UpsampleBilinear2dBackward
// adds up the parts that an element has in all outputs.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/upsample_bilinear2d.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/planes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// Attributes: align_corners, scales_h, scales_w from `first` on.
inline PlaneAxis InterpolatedAxis(const OpCall& call, size_t axis, const Dims& in, const Dims& out,
                                  int first) {
  return PlaneAxis::Linear(in[2 + axis], out[2 + axis],
                           call.attribute<double>(first + 1 + static_cast<int>(axis)),
                           call.attribute<bool>(first));
}

void UpsampleBilinear2d(const KernelArgs& args) {
  const Dims& in = args.call.input(0).shape;
  const Dims& out = args.call.output(0).desc.shape;
  const PlaneAxis rows = InterpolatedAxis(args.call, 0, in, out, 1);
  const PlaneAxis columns = InterpolatedAxis(args.call, 1, in, out, 1);
  WithFloatType(args.call.input(0).dtype,
                [&](auto element) { PlaneSums<decltype(element)>(args, rows, columns).Run(); });
}

void UpsampleBilinear2dBackward(const KernelArgs& args) {
  const Dims& in = args.call.output(0).desc.shape;
  const Dims& out = args.call.input(0).shape;
  const PlaneAxis rows = InterpolatedAxis(args.call, 0, in, out, 2);
  const PlaneAxis columns = InterpolatedAxis(args.call, 1, in, out, 2);
  WithFloatType(args.call.input(0).dtype, [&](auto element) {
    PlaneGradients<decltype(element)>(args, rows, columns).Run();
  });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(UpsampleBilinear2d, NoWorkspace);
OPSERVE_CPU_KERNEL(UpsampleBilinear2dBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
