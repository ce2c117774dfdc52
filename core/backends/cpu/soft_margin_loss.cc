// SoftMarginLoss: ln(1 + e^z), z = −t x. SoftMarginLossBackward: −t σ(z) · (g · k).
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/soft_margin_loss.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/loss-inl.h"
#include "core/backends/cpu/math-inl.h"
#include "core/backends/cpu/reduced_output.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// −a b, without the error of its rounding.
HWY_INLINE SplitDouble NegatedProduct(FloatTag d, FloatVec a, FloatVec b) {
  return ProductOf(d, hn::Neg(a), b);
}

struct SoftMargin {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    return SoftplusOf(d, NegatedProduct(d, in[0], in[1]));
  }
};

struct SoftMarginGradient {
  float k;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 3>& in) const {
    const FloatVec slope = LogisticOf(d, NegatedProduct(d, in[1], in[2]));
    return hn::Neg(hn::Mul(hn::Mul(in[2], slope), hn::Mul(in[0], hn::Set(d, k))));
  }
};

void SoftMarginLoss(const KernelArgs& args) { RunLoss<2>(args, SoftMargin()); }

void SoftMarginLossBackward(const KernelArgs& args) {
  Map<3>(args, SoftMarginGradient{GradientFactor(args.call, ReductionOf(args.call, 0))});
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(SoftMarginLoss, LossWorkspace);
OPSERVE_CPU_KERNEL(SoftMarginLossBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
