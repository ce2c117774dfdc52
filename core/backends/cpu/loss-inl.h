// What the kernels of the losses share. Included once a SIMD target.

#include <array>

#include "core/backends/cpu/reduced_output.h"

#if defined(OPSERVE_CPU_LOSS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_LOSS_INL_H_
#undef OPSERVE_CPU_LOSS_INL_H_
#else
#define OPSERVE_CPU_LOSS_INL_H_
#endif

#include "core/backends/cpu/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// |a − b|, of L1 and of SmoothL1 with beta = 0, as is the next.
struct AbsoluteDifference {
  HWY_INLINE FloatVec operator()(FloatTag /*d*/, const std::array<FloatVec, 2>& in) const {
    return hn::Abs(hn::Sub(in[0], in[1]));
  }
};

// sign(a − b) · (g · k)
struct SignTimesGradient {
  float k;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 3>& in) const {
    const FloatVec x = hn::Sub(in[1], in[2]);
    const FloatVec zero = hn::Zero(d);
    const FloatVec one = hn::Set(d, 1.0f);
    // Comparisons with NaN are false, which leaves 0.
    const FloatVec sign =
        hn::Sub(hn::IfThenElseZero(hn::Gt(x, zero), one), hn::IfThenElseZero(hn::Lt(x, zero), one));
    return hn::Mul(sign, hn::Mul(in[0], hn::Set(d, k)));
  }
};

// A loss of N inputs, with its reduction as attribute 0.
template <size_t N, typename Op>
void RunLoss(const KernelArgs& args, const Op& op) {
  const Reduction reduction = ReductionOf(args.call, 0);
  if (reduction == Reduction::kNone) return Map<N>(args, op);
  const ElementwiseCall call = MakeReduction(args);
  const double sum = Sum<N>(args, call, op, PartialSums(args, call));
  if (!args.workers.stopped()) StoreReduced(args, reduction, sum);
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
