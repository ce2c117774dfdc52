// Hardtanh: x held to [min, max], a NaN where one of the three is. HardtanhBackward: 0 where
// x <= min or x >= max, else g.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/hardtanh.cc"
#include "hwy/foreach_target.h"

#include <cmath>

#include "core/backends/cpu/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

struct HeldTo {
  float low;
  float high;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    const FloatVec least = hn::Set(d, low);
    const FloatVec y = hn::Min(hn::Max(in[0], least), hn::Set(d, high));
    return hn::IfThenElse(hn::Or(hn::IsNaN(in[0]), hn::IsNaN(least)), hn::Add(in[0], least), y);
  }
};

struct PassInside {
  float low;
  float high;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    const auto outside = hn::Or(hn::Le(in[1], hn::Set(d, low)), hn::Ge(in[1], hn::Set(d, high)));
    return hn::IfThenZeroElse(outside, in[0]);
  }
};

void Hardtanh(const KernelArgs& args) {
  const float low = ScalarOf(args, 0);
  const float high = ScalarOf(args, 1);
  Map<1>(args, HeldTo{std::isnan(high) ? high : low, high});
}

void HardtanhBackward(const KernelArgs& args) {
  Map<2>(args, PassInside{ScalarOf(args, 0), ScalarOf(args, 1)});
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(Hardtanh, NoWorkspace);
OPSERVE_CPU_KERNEL(HardtanhBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
