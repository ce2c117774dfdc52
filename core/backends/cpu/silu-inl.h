// x σ(z) and its gradient, z = x for Silu and βx for Swish. Included once a SIMD target.

#if defined(OPSERVE_CPU_SILU_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_SILU_INL_H_
#undef OPSERVE_CPU_SILU_INL_H_
#else
#define OPSERVE_CPU_SILU_INL_H_
#endif

#include "core/backends/cpu/decay-inl.h"
#include "core/backends/cpu/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// x σ(z). By t = e^−|z|: x / (1 + t), where z < 0 t x / (1 + t).
template <typename Number>
HWY_INLINE Decaying SwishValue(FloatTag d, const Number& z, FloatVec x) {
  const DeepDecay t(d, MinusAbs(d, z));
  const FloatVec y = hn::Div(x, hn::Add(hn::Set(d, 1.0f), t.value()));
  return Decaying(hn::Lt(ValueOf(z), hn::Zero(d)), t, y);
}

// σ + z σ (1 − σ), σ = σ(z). By t: (1 + t + z t) / (1 + t)², where z < 0 t (1 + t + z) / (1 + t)².
template <typename Argument>
HWY_INLINE Decaying SwishSlope(FloatTag d, const Argument& argument, FloatVec any) {
  const FloatVec x = HeldOrNaN(d, any);
  const auto z = argument(d, x);
  const auto below = hn::Lt(ValueOf(z), hn::Zero(d));
  const DeepDecay t(d, MinusAbs(d, z));
  const FloatVec sum = hn::Add(hn::Set(d, 1.0f), t.value());
  const FloatVec numerator = hn::Add(sum, hn::IfThenElse(below, ValueOf(z), t.Times(ValueOf(z))));
  // Twice, as the square of the sum would be rounded once more.
  return Decaying(below, t, hn::Div(hn::Div(numerator, sum), sum));
}

// The same by t = e⁻ʷ, where |w| <= 40: (1 + t + z t) / (1 + t)². Where w is a function of x, z is
// x w'.
HWY_INLINE FloatVec ShareSlopeOfModerate(FloatTag d, FloatVec t, FloatVec z) {
  const FloatVec sum = hn::Add(hn::Set(d, 1.0f), t);
  return hn::Div(hn::MulAdd(t, z, sum), hn::Mul(sum, sum));
}

template <typename Number>
HWY_INLINE FloatVec SwishSlopeOfModerate(FloatTag d, const Number& z) {
  return ShareSlopeOfModerate(d, ExpOfModerate(d, NegativeOf(z)), ValueOf(z));
}

template <typename Argument>
struct SwishOf {
  Argument argument;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    const auto z = argument(d, in[0]);
    return QuickWhere(d, Within(d, z, 80), ShareOfModerate(d, in[0], z),
                      [&]() HWY_ATTR { return SwishValue(d, z, in[0]).value(); });
  }
};

template <typename Argument>
struct SwishGradient {
  Argument argument;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    const auto z = argument(d, in[1]);
    const FloatVec quick = hn::Mul(in[0], SwishSlopeOfModerate(d, z));
    return QuickWhere(d, Within(d, z, 40), quick, [&]() HWY_ATTR {
      return hn::Mul(in[0], SwishSlope(d, argument, in[1]).value());
    });
  }
};

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
