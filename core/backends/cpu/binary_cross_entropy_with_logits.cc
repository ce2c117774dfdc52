// BinaryCrossEntropyWithLogits: w ((1 − t) x + (1 + (p − 1) t) ln(1 + e⁻ˣ)), p the weight of what
// is positive. Its gradient: ((p t + 1 − t) σ(x) − p t) · w · (g · k). With respect to the
// target:
// ((p − 1) ln(1 + e⁻ˣ) − x) · w · (g · k).
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/binary_cross_entropy_with_logits.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/loss-inl.h"
#include "core/backends/cpu/math-inl.h"
#include "core/backends/cpu/reduced_output.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

struct LogitsCrossEntropy {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 4>& in) const {
    const FloatVec x = in[0];
    const FloatVec t = in[1];
    const FloatVec one = hn::Set(d, 1.0f);
    const FloatVec share = hn::MulAdd(in[3], t, hn::Sub(one, t));
    const FloatVec miss = SoftplusOf(d, hn::Neg(x));
    return hn::Mul(in[2], hn::MulAdd(hn::Sub(one, t), x, hn::Mul(share, miss)));
  }
};

struct LogitsCrossEntropyGradient {
  float k;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 5>& in) const {
    const FloatVec t = in[2];
    const FloatVec one = hn::Set(d, 1.0f);
    const FloatVec share = hn::MulAdd(in[4], t, hn::Sub(one, t));
    const FloatVec slope = hn::NegMulAdd(in[4], t, hn::Mul(share, LogisticOf(d, in[1])));
    return hn::Mul(hn::Mul(slope, in[3]), hn::Mul(in[0], hn::Set(d, k)));
  }
};

struct LogitsCrossEntropyTargetGradient {
  float k;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 5>& in) const {
    const FloatVec miss = SoftplusOf(d, hn::Neg(in[1]));
    const FloatVec finite = hn::MulSub(hn::Sub(in[4], hn::Set(d, 1.0f)), miss, in[1]);
    // Of −∞: p·∞ − 0, of which the form above would make ∞ − ∞.
    const auto is_limit = hn::Eq(in[1], hn::Neg(hn::Inf(d)));
    const FloatVec slope = hn::IfThenElse(is_limit, hn::Mul(in[4], miss), finite);
    return hn::Mul(hn::Mul(slope, in[3]), hn::Mul(in[0], hn::Set(d, k)));
  }
};

void BinaryCrossEntropyWithLogits(const KernelArgs& args) {
  RunLoss<4>(args, LogitsCrossEntropy());
}

void BinaryCrossEntropyWithLogitsBackward(const KernelArgs& args) {
  Map<5>(args, LogitsCrossEntropyGradient{GradientFactor(args.call, ReductionOf(args.call, 0))});
}

void BinaryCrossEntropyWithLogitsTargetBackward(const KernelArgs& args) {
  Map<5>(args,
         LogitsCrossEntropyTargetGradient{GradientFactor(args.call, ReductionOf(args.call, 0))});
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(BinaryCrossEntropyWithLogits, LossWorkspace);
OPSERVE_CPU_KERNEL(BinaryCrossEntropyWithLogitsBackward, NoWorkspace);
OPSERVE_CPU_KERNEL(BinaryCrossEntropyWithLogitsTargetBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
