// Gelu, by the normal distribution's function Φ or by tanh, and its gradients. Included once a SIMD
// target.

#if defined(OPSERVE_CPU_GELU_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_GELU_INL_H_
#undef OPSERVE_CPU_GELU_INL_H_
#else
#define OPSERVE_CPU_GELU_INL_H_
#endif

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// Beyond it every factor that decays is 0.
HWY_INLINE FloatVec HeldTo100(FloatTag d, FloatVec t) { return hn::Min(t, hn::Set(d, 100.0f)); }

// Φ(−t) e^(t²/2) for 0 <= t <= 100. A polynomial of t below 1; above, one of u over t + 1.5 where
// u = (t − 1.5) / (t + 1.5). Both minimax, to 2e-9.
HWY_INLINE FloatVec ScaledNormalTail(FloatTag d, FloatVec t) {
  const FloatVec shift = hn::Set(d, 1.5f);
  const auto near = hn::Lt(t, hn::Set(d, 1.0f));
  const auto pick = [&](float of_near, float of_far) HWY_ATTR {
    return hn::IfThenElse(near, hn::Set(d, of_near), hn::Set(d, of_far));
  };
  const FloatVec inverse = hn::Div(hn::Set(d, 1.0f), hn::Add(t, shift));
  const FloatVec u = hn::IfThenElse(near, t, hn::Mul(hn::Sub(t, shift), inverse));
  FloatVec p = pick(0.0f, 0.00223427755f);
  p = hn::MulAdd(p, u, pick(0.000332318567f, -0.00321089197f));
  p = hn::MulAdd(p, u, pick(-0.00240738271f, -0.00188490446f));
  p = hn::MulAdd(p, u, pick(0.00917882659f, -0.00238064956f));
  p = hn::MulAdd(p, u, pick(-0.0259135757f, 0.00389359053f));
  p = hn::MulAdd(p, u, pick(0.0622712895f, 0.0176471695f));
  p = hn::MulAdd(p, u, pick(-0.132936746f, 0.0179002117f));
  p = hn::MulAdd(p, u, pick(0.249995679f, -0.0574957095f));
  p = hn::MulAdd(p, u, pick(-0.398942113f, -0.195099533f));
  p = hn::MulAdd(p, u, pick(0.5f, 0.617341995f));
  return hn::IfThenElse(near, p, hn::Mul(p, inverse));
}

// e^(−t²/2) for 0 <= t <= 100.
HWY_INLINE Decay NormalDecay(FloatTag d, FloatVec t) {
  const auto exponent = [](DoubleTag dd, DoubleVec v)
                            HWY_ATTR { return hn::Mul(hn::Mul(v, v), hn::Set(dd, -0.5)); };
  return Decay(d, InDouble(d, exponent, t));
}

// x Φ(x)
struct GeluOf {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    const FloatVec x = in[0];
    const FloatVec t = HeldTo100(d, hn::Abs(x));
    const FloatVec tail = ScaledNormalTail(d, t);
    const Decay decay = NormalDecay(d, t);
    const FloatVec above = hn::Mul(x, hn::Sub(hn::Set(d, 1.0f), decay.Times(tail)));
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), decay.Times(hn::Mul(tail, x)), above);
  }
};

// g (Φ(x) + x φ(x)), φ the density.
struct GeluGradient {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    const FloatVec t = hn::Abs(in[1]);
    const FloatVec held = HeldTo100(d, t);
    const FloatVec density = hn::Mul(t, hn::Set(d, 0.398942280401432678f));
    const FloatVec tail = NormalDecay(d, held).Times(hn::Sub(ScaledNormalTail(d, held), density));
    const FloatVec above = hn::Sub(hn::Set(d, 1.0f), tail);
    return hn::Mul(in[0], hn::IfThenElse(hn::Lt(in[1], hn::Zero(d)), tail, above));
  }
};

inline constexpr double kGeluTanhLinear = 1.5957691216057308;  // 2 √(2 / π)
inline constexpr double kGeluTanhCubic = 0.07135481627260025;  // times 0.044715

// e^−|w|, w = 2 √(2 / π) (x + 0.044715 x³), for 0 <= |x| <= 100.
HWY_INLINE Decay GeluTanhDecay(FloatTag d, FloatVec x) {
  const auto exponent = [](DoubleTag dd, DoubleVec v) HWY_ATTR {
    const DoubleVec slope =
        hn::MulAdd(hn::Mul(v, v), hn::Set(dd, kGeluTanhCubic), hn::Set(dd, kGeluTanhLinear));
    return hn::Neg(hn::Mul(v, slope));
  };
  return Decay(d, InDouble(d, exponent, hn::Abs(x)));
}

// ½ x (1 + tanh(w / 2)) = x σ(w)
struct GeluTanhOf {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    const FloatVec x = in[0];
    const Decay t = GeluTanhDecay(d, HeldTo100(d, hn::Abs(x)));
    const FloatVec y = hn::Div(x, hn::Add(hn::Set(d, 1.0f), t.value()));
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), t.Times(y), y);
  }
};

// g (σ(w) + x w' σ(w) (1 − σ(w)))
struct GeluTanhGradient {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    const FloatVec x = in[1];
    const FloatVec held = hn::CopySign(HeldTo100(d, hn::Abs(x)), x);
    const Decay t = GeluTanhDecay(d, held);
    const FloatVec slope =
        hn::MulAdd(hn::Mul(held, held), hn::Set(d, static_cast<float>(3 * kGeluTanhCubic)),
                   hn::Set(d, static_cast<float>(kGeluTanhLinear)));
    const FloatVec z = OrNaN(hn::Mul(held, slope), x);
    const auto below = hn::Lt(x, hn::Zero(d));
    const FloatVec sum = hn::Add(hn::Set(d, 1.0f), t.value());
    const FloatVec numerator = hn::Add(sum, hn::IfThenElse(below, z, t.Times(z)));
    const FloatVec quotient = hn::Div(hn::Div(numerator, sum), sum);
    return hn::Mul(in[0], hn::IfThenElse(below, t.Times(quotient), quotient));
  }
};

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
