// Hardsigmoid: min(max(x + 3, 0), 6) / 6. HardsigmoidBackward: g / 6 where −3 < x < 3, else 0.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/hardsigmoid.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

struct HardsigmoidOf {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    const FloatVec six = hn::Set(d, 6.0f);
    const FloatVec shifted = hn::Add(in[0], hn::Set(d, 3.0f));
    const FloatVec y = hn::Div(hn::Min(hn::Max(shifted, hn::Zero(d)), six), six);
    return hn::IfThenElse(hn::IsNaN(in[0]), in[0], y);
  }
};

struct HardsigmoidGradient {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    const auto inside = hn::Lt(hn::Abs(in[1]), hn::Set(d, 3.0f));
    return hn::IfThenElseZero(inside, hn::Div(in[0], hn::Set(d, 6.0f)));
  }
};

void Hardsigmoid(const KernelArgs& args) { Map<1>(args, HardsigmoidOf()); }
void HardsigmoidBackward(const KernelArgs& args) { Map<2>(args, HardsigmoidGradient()); }

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(Hardsigmoid, NoWorkspace);
OPSERVE_CPU_KERNEL(HardsigmoidBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
