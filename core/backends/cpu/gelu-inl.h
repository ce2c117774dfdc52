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
#include "core/backends/cpu/silu-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// Beyond it every factor that decays is 0.
HWY_INLINE FloatVec HeldTo24(FloatTag d, FloatVec t) { return hn::Min(t, hn::Set(d, 24.0f)); }

// Φ(−t) e^(t²/2) for 0 <= t <= 24, by a minimax polynomial of u = (t − 1.5) / (t + 1.5), over
// t + 1.5; to 2e-8.
HWY_INLINE FloatVec ScaledNormalTail(FloatTag d, FloatVec t) {
  const FloatVec shift = hn::Set(d, 1.5f);
  const FloatVec inverse = hn::Div(hn::Set(d, 1.0f), hn::Add(t, shift));
  const FloatVec u = hn::Mul(hn::Sub(t, shift), inverse);
  FloatVec p = hn::MulAdd(hn::Set(d, 0.000130839049f), u, hn::Set(d, 0.00044488773f));
  p = hn::MulAdd(p, u, hn::Set(d, 0.000285246177f));
  p = hn::MulAdd(p, u, hn::Set(d, -0.00100885902f));
  p = hn::MulAdd(p, u, hn::Set(d, -0.0027321158f));
  p = hn::MulAdd(p, u, hn::Set(d, -0.00245192717f));
  p = hn::MulAdd(p, u, hn::Set(d, 0.00399398338f));
  p = hn::MulAdd(p, u, hn::Set(d, 0.01764399f));
  p = hn::MulAdd(p, u, hn::Set(d, 0.0178959444f));
  p = hn::MulAdd(p, u, hn::Set(d, -0.0574956499f));
  p = hn::MulAdd(p, u, hn::Set(d, -0.195099473f));
  p = hn::MulAdd(p, u, hn::Set(d, 0.617341995f));
  return hn::Mul(p, inverse);
}

// −t²/2 for 0 <= t <= 24.
HWY_INLINE SplitDouble NormalExponent(FloatTag d, FloatVec t) {
  return ProductOf(d, hn::Mul(t, hn::Set(d, -0.5f)), t);
}

// The function and its slope, each by one of its forms. The shorter forms are for
// |x| <= kModerate.
struct GeluExact {
  static constexpr float kModerate = 12.5f;

  // x Φ(x)
  static HWY_INLINE Decaying Value(FloatTag d, FloatVec x) {
    const FloatVec t = HeldTo24(d, hn::Abs(x));
    const FloatVec tail = ScaledNormalTail(d, t);
    const DeepDecay decay(d, NormalExponent(d, t));
    const auto below = hn::Lt(x, hn::Zero(d));
    const FloatVec above = hn::Mul(x, hn::Sub(hn::Set(d, 1.0f), decay.Times(tail)));
    return Decaying(below, decay, hn::IfThenElse(below, hn::Mul(tail, x), above));
  }
  static HWY_INLINE FloatVec ValueOfModerate(FloatTag d, FloatVec x) {
    const FloatVec t = hn::Abs(x);
    return hn::Mul(x, BelowOrAbove(d, x, ScaledNormalTail(d, t)));
  }

  // Φ(x) + x φ(x), φ the density.
  static HWY_INLINE Decaying Slope(FloatTag d, FloatVec x) {
    const FloatVec t = HeldOrNaN(d, hn::Abs(x));
    const FloatVec held = HeldTo24(d, t);
    const FloatVec density = hn::Mul(t, hn::Set(d, 0.398942280401432678f));
    const FloatVec tail = hn::Sub(ScaledNormalTail(d, held), density);
    const DeepDecay decay(d, NormalExponent(d, held));
    const auto below = hn::Lt(x, hn::Zero(d));
    const FloatVec above = hn::Sub(hn::Set(d, 1.0f), decay.Times(tail));
    return Decaying(below, decay, hn::IfThenElse(below, tail, above));
  }
  static HWY_INLINE FloatVec SlopeOfModerate(FloatTag d, FloatVec x) {
    const FloatVec t = hn::Abs(x);
    const FloatVec density = hn::Mul(t, hn::Set(d, 0.398942280401432678f));
    return BelowOrAbove(d, x, hn::Sub(ScaledNormalTail(d, t), density));
  }

 private:
  // y = scaled e^(−x²/2) where x < 0, 1 − y elsewhere.
  static HWY_INLINE FloatVec BelowOrAbove(FloatTag d, FloatVec x, FloatVec scaled) {
    const FloatVec y = hn::Mul(ExpOfModerate(d, NormalExponent(d, hn::Abs(x))), scaled);
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), y, hn::Sub(hn::Set(d, 1.0f), y));
  }
};

inline constexpr double kGeluTanhLinear = 1.5957691216057308;  // 2 √(2 / π)
inline constexpr double kGeluTanhCubic = 0.07135481627260025;  // times 0.044715

// −w = −2 √(2 / π) (x + 0.044715 x³), for |x| <= 24.
HWY_INLINE SplitDouble GeluTanhExponent(FloatTag d, FloatVec x) {
#if HWY_NATIVE_FMA
  // As exact as in doubles. The linear coefficient's first part is short, so that what is taken off
  // it is exact, too.
  constexpr double kLinear = 0x1.98844p+0;
  constexpr auto kCubic = static_cast<float>(kGeluTanhCubic);
  const FloatVec linear = hn::Set(d, static_cast<float>(-kLinear));
  const FloatVec linear_rest = hn::Set(d, static_cast<float>(kLinear - kGeluTanhLinear));
  const FloatVec cubic = hn::Set(d, -kCubic);
  const FloatVec cubic_rest = hn::Set(d, static_cast<float>(double{kCubic} - kGeluTanhCubic));
  const FloatVec square = hn::Mul(x, x);
  const FloatVec square_rest = hn::MulSub(x, x, square);
  const FloatVec factor = hn::MulAdd(cubic, square, linear);
  FloatVec rest = hn::MulAdd(cubic, square, hn::Sub(linear, factor));
  rest = hn::MulAdd(cubic, square_rest, hn::Add(rest, linear_rest));
  rest = hn::MulAdd(cubic_rest, square, rest);
  const FloatVec exponent = hn::Mul(x, factor);
  return {exponent, hn::MulAdd(x, rest, hn::MulSub(x, factor, exponent))};
#else
  const auto exponent = [](DoubleTag dd, DoubleVec v) HWY_ATTR {
    const DoubleVec slope =
        hn::MulAdd(hn::Mul(v, v), hn::Set(dd, kGeluTanhCubic), hn::Set(dd, kGeluTanhLinear));
    return hn::Neg(hn::Mul(v, slope));
  };
  return InDouble(d, exponent, x);
#endif
}

struct GeluByTanh {
  static constexpr float kModerate = 7.0f;

  // ½ x (1 + tanh(w / 2)) = x σ(w)
  static HWY_INLINE Decaying Value(FloatTag d, FloatVec x) {
    const DeepDecay t(d, GeluTanhExponent(d, HeldTo24(d, hn::Abs(x))));
    const FloatVec y = hn::Div(x, hn::Add(hn::Set(d, 1.0f), t.value()));
    return Decaying(hn::Lt(x, hn::Zero(d)), t, y);
  }
  static HWY_INLINE FloatVec ValueOfModerate(FloatTag d, FloatVec x) {
    const FloatVec t = ExpOfModerate(d, GeluTanhExponent(d, x));
    return hn::Div(x, hn::Add(hn::Set(d, 1.0f), t));
  }

  // σ(w) + x w' σ(w) (1 − σ(w))
  static HWY_INLINE Decaying Slope(FloatTag d, FloatVec x) {
    const FloatVec held = hn::CopySign(HeldTo24(d, hn::Abs(x)), x);
    const DeepDecay t(d, GeluTanhExponent(d, hn::Abs(held)));
    const FloatVec z = OrNaN(SlopeTimes(d, held), x);
    const auto below = hn::Lt(x, hn::Zero(d));
    const FloatVec sum = hn::Add(hn::Set(d, 1.0f), t.value());
    const FloatVec numerator = hn::Add(sum, hn::IfThenElse(below, z, t.Times(z)));
    return Decaying(below, t, hn::Div(hn::Div(numerator, sum), sum));
  }
  static HWY_INLINE FloatVec SlopeOfModerate(FloatTag d, FloatVec x) {
    return ShareSlopeOfModerate(d, ExpOfModerate(d, GeluTanhExponent(d, x)), SlopeTimes(d, x));
  }

 private:
  // x w'(x)
  static HWY_INLINE FloatVec SlopeTimes(FloatTag d, FloatVec x) {
    const FloatVec slope =
        hn::MulAdd(hn::Mul(x, x), hn::Set(d, static_cast<float>(3 * kGeluTanhCubic)),
                   hn::Set(d, static_cast<float>(kGeluTanhLinear)));
    return hn::Mul(x, slope);
  }
};

template <typename Form>
struct GeluOf {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    return QuickWhere(d, Within(d, in[0], Form::kModerate), Form::ValueOfModerate(d, in[0]),
                      [&]() HWY_ATTR { return Form::Value(d, in[0]).value(); });
  }
};

template <typename Form>
struct GeluGradient {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    const FloatVec quick = hn::Mul(in[0], Form::SlopeOfModerate(d, in[1]));
    return QuickWhere(d, Within(d, in[1], Form::kModerate), quick,
                      [&]() HWY_ATTR { return hn::Mul(in[0], Form::Slope(d, in[1]).value()); });
  }
};

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
