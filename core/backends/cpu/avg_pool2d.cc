// AvgPool2d: the mean of each window; AvgPool2dBackward: what every window that an element is in
// has for it.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/avg_pool2d.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/planes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// Attributes: kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override.
inline PlaneAxis PooledAxis(const KernelArgs& args, size_t axis, const TensorDesc& in,
                            const TensorDesc& out) {
  using Ints = std::vector<int64_t>;
  const OpCall& call = args.call;
  const PlaneWindow window = PlaneWindow::Along(axis, call.attribute<Ints>(0),
                                                call.attribute<Ints>(1), call.attribute<Ints>(2));
  const int64_t inputs = in.shape[in.shape.size() - 2 + axis];
  const int64_t outputs = out.shape[out.shape.size() - 2 + axis];
  const int64_t divisor = call.attribute<int64_t>(5);
  if (divisor != 0) {
    const double weight = axis == 0 ? 1 / static_cast<double>(divisor) : 1;
    return PlaneAxis::Sum(inputs, outputs, window, weight);
  }
  return PlaneAxis::Mean(
      inputs, outputs, window,
      call.attribute<bool>(4) ? PlaneAxis::Divisor::kWithPadding : PlaneAxis::Divisor::kInputOnly);
}

void AvgPool2d(const KernelArgs& args) {
  const TensorDesc& in = args.call.input(0);
  const TensorDesc& out = args.call.output(0).desc;
  WithFloatType(in.dtype, [&](auto element) {
    PlaneSums<decltype(element)>(args, PooledAxis(args, 0, in, out), PooledAxis(args, 1, in, out))
        .Run();
  });
}

void AvgPool2dBackward(const KernelArgs& args) {
  const TensorDesc& in = args.call.output(0).desc;
  const TensorDesc& out = args.call.input(0);
  WithFloatType(in.dtype, [&](auto element) {
    PlaneGradients<decltype(element)>(args, PooledAxis(args, 0, in, out),
                                      PooledAxis(args, 1, in, out))
        .Run();
  });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(AvgPool2d, NoWorkspace);
OPSERVE_CPU_KERNEL(AvgPool2dBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
