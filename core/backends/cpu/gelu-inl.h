// Gelu, by the normal distribution's function Φ or by tanh, and its gradients. Included once a SIMD
// target.

#if defined(OPSERVE_CPU_GELU_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_GELU_INL_H_
#undef OPSERVE_CPU_GELU_INL_H_
#else
#define OPSERVE_CPU_GELU_INL_H_
#endif

#include "core/backends/cpu/decay-inl.h"
#include "core/backends/cpu/elementwise-inl.h"

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
HWY_INLINE DeepDecay NormalDecay(FloatTag d, FloatVec t) {
#if HWY_NATIVE_FMA
  // As exact as in doubles.
  const FloatVec exponent = hn::Mul(hn::Mul(t, t), hn::Set(d, -0.5f));
  const FloatVec half = hn::Mul(t, hn::Set(d, -0.5f));
  return DeepDecay(d, exponent, hn::MulSub(half, t, exponent));
#else
  const auto exponent = [](DoubleTag dd, DoubleVec v)
                            HWY_ATTR { return hn::Mul(hn::Mul(v, v), hn::Set(dd, -0.5)); };
  return DeepDecay(d, InDouble(d, exponent, t));
#endif
}

// The function and its slope, each by one of its forms.
struct GeluExact {
  // x Φ(x)
  static HWY_INLINE Decaying Value(FloatTag d, FloatVec x) {
    const FloatVec t = HeldTo100(d, hn::Abs(x));
    const FloatVec tail = ScaledNormalTail(d, t);
    const DeepDecay decay = NormalDecay(d, t);
    const auto below = hn::Lt(x, hn::Zero(d));
    const FloatVec above = hn::Mul(x, hn::Sub(hn::Set(d, 1.0f), decay.Times(tail)));
    return Decaying(below, decay, hn::IfThenElse(below, hn::Mul(tail, x), above));
  }

  // Φ(x) + x φ(x), φ the density.
  static HWY_INLINE Decaying Slope(FloatTag d, FloatVec x) {
    const FloatVec t = HeldOrNaN(d, hn::Abs(x));
    const FloatVec held = HeldTo100(d, t);
    const FloatVec density = hn::Mul(t, hn::Set(d, 0.398942280401432678f));
    const FloatVec tail = hn::Sub(ScaledNormalTail(d, held), density);
    const DeepDecay decay = NormalDecay(d, held);
    const auto below = hn::Lt(x, hn::Zero(d));
    const FloatVec above = hn::Sub(hn::Set(d, 1.0f), decay.Times(tail));
    return Decaying(below, decay, hn::IfThenElse(below, tail, above));
  }
};

inline constexpr double kGeluTanhLinear = 1.5957691216057308;  // 2 √(2 / π)
inline constexpr double kGeluTanhCubic = 0.07135481627260025;  // times 0.044715

// e^−|w|, w = 2 √(2 / π) (x + 0.044715 x³), for 0 <= |x| <= 100.
HWY_INLINE DeepDecay GeluTanhDecay(FloatTag d, FloatVec x) {
  const auto exponent = [](DoubleTag dd, DoubleVec v) HWY_ATTR {
    const DoubleVec slope =
        hn::MulAdd(hn::Mul(v, v), hn::Set(dd, kGeluTanhCubic), hn::Set(dd, kGeluTanhLinear));
    return hn::Neg(hn::Mul(v, slope));
  };
  return DeepDecay(d, InDouble(d, exponent, hn::Abs(x)));
}

struct GeluByTanh {
  // ½ x (1 + tanh(w / 2)) = x σ(w)
  static HWY_INLINE Decaying Value(FloatTag d, FloatVec x) {
    const DeepDecay t = GeluTanhDecay(d, HeldTo100(d, hn::Abs(x)));
    const FloatVec y = hn::Div(x, hn::Add(hn::Set(d, 1.0f), t.value()));
    return Decaying(hn::Lt(x, hn::Zero(d)), t, y);
  }

  // σ(w) + x w' σ(w) (1 − σ(w))
  static HWY_INLINE Decaying Slope(FloatTag d, FloatVec x) {
    const FloatVec held = hn::CopySign(HeldTo100(d, hn::Abs(x)), x);
    const DeepDecay t = GeluTanhDecay(d, held);
    const FloatVec slope =
        hn::MulAdd(hn::Mul(held, held), hn::Set(d, static_cast<float>(3 * kGeluTanhCubic)),
                   hn::Set(d, static_cast<float>(kGeluTanhLinear)));
    const FloatVec z = OrNaN(hn::Mul(held, slope), x);
    const auto below = hn::Lt(x, hn::Zero(d));
    const FloatVec sum = hn::Add(hn::Set(d, 1.0f), t.value());
    const FloatVec numerator = hn::Add(sum, hn::IfThenElse(below, z, t.Times(z)));
    return Decaying(below, t, hn::Div(hn::Div(numerator, sum), sum));
  }
};

template <typename Form>
struct GeluOf {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    return Form::Value(d, in[0]).value();
  }
};

template <typename Form>
struct GeluGradient {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    return hn::Mul(in[0], Form::Slope(d, in[1]).value());
  }
};

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
