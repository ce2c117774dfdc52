// Sigmoid: 1 / (1 + e⁻ˣ). SigmoidBackward: (g · (1 − y)) · y.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/sigmoid.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

struct Logistic {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    return LogisticOf(d, in[0]);
  }
};

struct LogisticGradient {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    return hn::Mul(hn::Mul(in[0], hn::Sub(hn::Set(d, 1.0f), in[1])), in[1]);
  }
};

void Sigmoid(const KernelArgs& args) { Map<1>(args, Logistic()); }
void SigmoidBackward(const KernelArgs& args) { Map<2>(args, LogisticGradient()); }

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(Sigmoid, NoWorkspace);
OPSERVE_CPU_KERNEL(SigmoidBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
