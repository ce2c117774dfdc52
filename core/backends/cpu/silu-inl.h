// x σ(z) and its gradient, z = x for Silu and βx for Swish. Included once a SIMD target.

#if defined(OPSERVE_CPU_SILU_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_SILU_INL_H_
#undef OPSERVE_CPU_SILU_INL_H_
#else
#define OPSERVE_CPU_SILU_INL_H_
#endif

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// By t = e^−|z|: x / (1 + t), where z < 0 t x / (1 + t).
template <typename Argument>
struct SwishOf {
  Argument argument;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    const SplitDouble z = argument(d, in[0]);
    const Decay t(d, NegativeOf(d, z));
    const FloatVec y = hn::Div(in[0], hn::Add(hn::Set(d, 1.0f), t.value()));
    return hn::IfThenElse(hn::Lt(z.value, hn::Zero(d)), t.Times(y), y);
  }
};

// g (σ + z σ (1 − σ)), σ = σ(z). By t: g (1 + t + z t) / (1 + t)², where z < 0
// g t (1 + t + z) / (1 + t)².
template <typename Argument>
struct SwishGradient {
  Argument argument;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    const FloatVec x = HeldOrNaN(d, in[1]);
    const SplitDouble z = argument(d, x);
    const auto below = hn::Lt(z.value, hn::Zero(d));
    const Decay t(d, NegativeOf(d, z));
    const FloatVec sum = hn::Add(hn::Set(d, 1.0f), t.value());
    const FloatVec numerator = hn::Add(sum, hn::IfThenElse(below, z.value, t.Times(z.value)));
    // Twice, as the square of the sum would be rounded once more.
    const FloatVec slope = hn::Div(hn::Div(numerator, sum), sum);
    return hn::Mul(in[0], hn::IfThenElse(below, t.Times(slope), slope));
  }
};

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
