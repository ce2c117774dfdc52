// KlDiv: t (ln t − x), 0 where t = 0; of a target that is a logarithm e^t (t − x). KlDivBackward:
// −t · (g · k) or −e^t · (g · k).
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/kl_div.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/loss-inl.h"
#include "core/backends/cpu/math-inl.h"
#include "core/backends/cpu/reduced_output.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

struct Divergence {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    const FloatVec y = hn::Mul(in[1], hn::Sub(Log(d, in[1]), in[0]));
    // As ln 0 is infinite.
    const FloatVec at_zero = hn::Neg(hn::Mul(in[1], in[0]));
    return hn::IfThenElse(hn::Eq(in[1], hn::Zero(d)), at_zero, y);
  }
};

struct DivergenceOfLogarithm {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    return hn::Mul(Exp(d, in[1]), hn::Sub(in[1], in[0]));
  }
};

struct DivergenceGradient {
  float k;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 3>& in) const {
    return hn::Neg(hn::Mul(in[2], hn::Mul(in[0], hn::Set(d, k))));
  }
};

struct DivergenceOfLogarithmGradient {
  float k;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 3>& in) const {
    return hn::Neg(hn::Mul(Exp(d, in[2]), hn::Mul(in[0], hn::Set(d, k))));
  }
};

void KlDiv(const KernelArgs& args) {
  if (args.call.attribute<bool>(1)) return RunLoss<2>(args, DivergenceOfLogarithm());
  RunLoss<2>(args, Divergence());
}

void KlDivBackward(const KernelArgs& args) {
  const float k = GradientFactor(args.call, ReductionOf(args.call, 0));
  if (args.call.attribute<bool>(1)) return Map<3>(args, DivergenceOfLogarithmGradient{k});
  Map<3>(args, DivergenceGradient{k});
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(KlDiv, LossWorkspace);
OPSERVE_CPU_KERNEL(KlDivBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
