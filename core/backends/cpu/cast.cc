// Cast: its input, rounded to the output's dtype.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/cast.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

struct CastOf {
  HWY_INLINE FloatVec operator()(FloatTag /*d*/, const std::array<FloatVec, 1>& in) const {
    return in[0];
  }
};

void Cast(const KernelArgs& args) { Map<1>(args, CastOf()); }

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(Cast, NoWorkspace);

}  // namespace opserve::cpu
#endif
