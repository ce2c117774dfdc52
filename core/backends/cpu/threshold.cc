// Threshold: value where x <= threshold, else x. Relu: 0 where x <= 0. ThresholdBackward: 0 where
// x <= threshold, else g.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/threshold.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

struct Above {
  float threshold;
  float value;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    return hn::IfThenElse(hn::Le(in[0], hn::Set(d, threshold)), hn::Set(d, value), in[0]);
  }
};

struct PassAbove {
  float threshold;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    return hn::IfThenZeroElse(hn::Le(in[1], hn::Set(d, threshold)), in[0]);
  }
};

void Threshold(const KernelArgs& args) {
  Map<1>(args, Above{ScalarOf(args, 0), ScalarOf(args, 1)});
}

void Relu(const KernelArgs& args) { Map<1>(args, Above{0.0f, 0.0f}); }

void ThresholdBackward(const KernelArgs& args) { Map<2>(args, PassAbove{ScalarOf(args, 0)}); }

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(Threshold, NoWorkspace);
OPSERVE_CPU_KERNEL(Relu, NoWorkspace);
OPSERVE_CPU_KERNEL(ThresholdBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
