// Elu: scale x where x > 0, alpha scale (e^(input_scale x) − 1) elsewhere. EluBackward: from the
// input or from the result.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/elu.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/elu-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

template <typename Op>
Op WithScalars(const KernelArgs& args) {
  const float scale = ScalarOf(args, 1);
  return {scale, ScalarOf(args, 0) * scale, ScalarOf(args, 2)};
}

void Elu(const KernelArgs& args) { Map<1>(args, WithScalars<EluOf>(args)); }

void EluBackward(const KernelArgs& args) {
  if (args.call.attribute<bool>(3)) return Map<2>(args, WithScalars<EluGradientOfResult>(args));
  WithArgument(ScalarOf(args, 2), [&](auto argument) {
    const auto [scale, saturation, input_scale] = WithScalars<EluGradientOfResult>(args);
    Map<2>(args, EluGradient<decltype(argument)>{argument, scale, saturation * input_scale});
  });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(Elu, NoWorkspace);
OPSERVE_CPU_KERNEL(EluBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
