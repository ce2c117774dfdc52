// Selu: Elu with the constants of Klambauer et al., "Self-Normalizing Neural Networks" (2017).
// SeluBackward: from the result.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/selu.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/elu-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

inline constexpr float kSeluScale = 1.0507009873554804934193349852946f;
inline constexpr float kSeluSaturation = 1.6732632423543772848170429916717f * kSeluScale;

void Selu(const KernelArgs& args) { Map<1>(args, EluOf{kSeluScale, kSeluSaturation, 1.0f}); }

void SeluBackward(const KernelArgs& args) {
  Map<2>(args, EluGradientOfResult{kSeluScale, kSeluSaturation, 1.0f});
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(Selu, NoWorkspace);
OPSERVE_CPU_KERNEL(SeluBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
