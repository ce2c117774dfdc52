// Vector exp, log and what is made of them, of float and partly of double, that keep NaN and
// infinities, where Highway's make finite numbers of them. Included once a SIMD target.

#if defined(OPSERVE_CPU_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_MATH_INL_H_
#undef OPSERVE_CPU_MATH_INL_H_
#else
#define OPSERVE_CPU_MATH_INL_H_
#endif

#include <limits>

#include "core/backends/cpu/vector-inl.h"
#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

using DoubleTag = hn::ScalableTag<double>;
using DoubleVec = hn::Vec<DoubleTag>;
using IntVec = hn::Vec<hn::RebindToSigned<FloatTag>>;

// e^r − 1 on [−½ ln 2, ½ ln 2]; Cephes' polynomial, 1 ulp.
HWY_INLINE FloatVec Expm1Reduced(FloatTag d, FloatVec r) {
  FloatVec p = hn::MulAdd(hn::Set(d, 1.9875691500e-4f), r, hn::Set(d, 1.3981999507e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 8.3334519073e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 4.1665795894e-2f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.6666665459e-1f));
  p = hn::MulAdd(p, r, hn::Set(d, 5.0000001201e-1f));
  return hn::MulAdd(p, hn::Mul(r, r), r);
}

// A number as a float and what its rounding left.
struct SplitDouble {
  FloatVec value;
  FloatVec further;
};

HWY_INLINE FloatVec ValueOf(FloatVec x) { return x; }
HWY_INLINE FloatVec ValueOf(const SplitDouble& x) { return x.value; }
HWY_INLINE FloatVec PlusFurther(FloatVec r, FloatVec /*x*/) { return r; }
HWY_INLINE FloatVec PlusFurther(FloatVec r, const SplitDouble& x) { return hn::Add(r, x.further); }
HWY_INLINE FloatVec NegativeOf(FloatVec x) { return hn::Neg(x); }
HWY_INLINE SplitDouble NegativeOf(const SplitDouble& x) {
  return {hn::Neg(x.value), hn::Neg(x.further)};
}

// x = n ln 2 + r, the result; |x| must be below 2¹⁶. x is a FloatVec or a SplitDouble.
template <typename Number>
HWY_INLINE FloatVec ReduceByLn2(FloatTag d, const Number& x, IntVec& n) {
  const hn::RebindToSigned<FloatTag> di;
  // The sum with 1.5 · 2²³ is rounded to an integer, which is its lower bits.
  const FloatVec integers = hn::Set(d, 0x1.8p23f);
  const FloatVec sum = hn::MulAdd(ValueOf(x), hn::Set(d, 1.44269504088896341f), integers);
  n = hn::Sub(hn::BitCast(di, sum), hn::Set(di, 0x4B400000));
  const FloatVec k = hn::Sub(sum, integers);
  const FloatVec r = hn::NegMulAdd(k, hn::Set(d, 0.693359375f), ValueOf(x));
  return hn::NegMulAdd(k, hn::Set(d, -2.12194440e-4f), PlusFurther(r, x));
}

// e^x = 2ⁿ · e^r. |x| must be below 2¹⁶.
template <typename Number>
HWY_INLINE FloatVec ExpParts(FloatTag d, const Number& x, IntVec& n) {
  const FloatVec r = ReduceByLn2(d, x, n);
  return hn::Add(Expm1Reduced(d, r), hn::Set(d, 1.0f));
}

HWY_INLINE FloatVec PowerOfTwo(FloatTag d, IntVec n) {
  const hn::RebindToSigned<FloatTag> di;
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
}

// e^x for −87 <= x <= 88.
template <typename Number>
HWY_INLINE FloatVec ExpOfModerate(FloatTag d, const Number& x) {
  IntVec n;
  const FloatVec p = ExpParts(d, x, n);
  const hn::RebindToSigned<FloatTag> di;
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(n)));
}

// x as far as e^x is neither 0 nor infinite.
HWY_INLINE FloatVec HeldForExp(FloatTag d, FloatVec x) {
  return hn::Min(hn::Max(x, hn::Set(d, -104.0f)), hn::Set(d, 89.0f));
}
HWY_INLINE SplitDouble HeldForExp(FloatTag d, const SplitDouble& x) {
  const FloatVec held = HeldForExp(d, x.value);
  return {held, hn::IfThenElseZero(hn::Eq(held, x.value), x.further)};
}

// e^x of any x. Subnormal results are made as integers: as products they would each cost an assist
// of the CPU.
template <typename Number>
HWY_NOINLINE FloatVec ExpOfAny(FloatTag d, const Number& x) {
  const hn::RebindToSigned<FloatTag> di;
  IntVec n;
  const FloatVec p = ExpParts(d, HeldForExp(d, x), n);
  // 2ⁿ in two steps: n may be one beyond the exponent's range.
  const IntVec normal = hn::Max(n, hn::Set(di, -125));
  const IntVec half = hn::ShiftRight<1>(normal);
  const FloatVec y = hn::Mul(hn::Mul(p, PowerOfTwo(d, half)), PowerOfTwo(d, hn::Sub(normal, half)));
  // In units of the smallest number, 2⁻¹⁴⁹.
  const IntVec subnormal = hn::Min(n, hn::Set(di, -126));
  const FloatVec units = hn::Mul(p, PowerOfTwo(d, hn::Add(subnormal, hn::Set(di, 149))));
  const auto tiny = hn::Lt(hn::ConvertTo(d, n), hn::Set(d, -125.5f));
  const FloatVec number = hn::IfThenElse(tiny, hn::BitCast(d, hn::NearestInt(units)), y);
  return hn::IfThenElse(hn::IsNaN(ValueOf(x)), ValueOf(x), number);
}

// e^x, with gradual underflow.
template <typename Number>
HWY_INLINE FloatVec Exp(FloatTag d, const Number& x) {
  const FloatVec value = ValueOf(x);
  const auto vanishes = hn::Lt(value, hn::Set(d, -104.0f));
  const auto moderate =
      hn::And(hn::Ge(value, hn::Set(d, -87.0f)), hn::Le(value, hn::Set(d, 88.0f)));
  if (hn::AllTrue(d, hn::Or(moderate, vanishes)))
    return hn::IfThenZeroElse(vanishes, ExpOfModerate(d, x));
  return ExpOfAny(d, x);
}

// e^x for x <= 0, at least e^−87; that is also the result of NaN.
HWY_INLINE FloatVec ExpNonPositive(FloatTag d, FloatVec x) {
  return ExpOfModerate(d, hn::Max(x, hn::Set(d, -87.0f)));
}

// e^x − 1.
HWY_INLINE FloatVec Expm1(FloatTag d, FloatVec x) {
  const FloatVec one = hn::Set(d, 1.0f);
  const FloatVec bounded = hn::Min(hn::Max(x, hn::Set(d, -20.0f)), hn::Set(d, 88.0f));
  IntVec n;
  const FloatVec r = ReduceByLn2(d, bounded, n);
  const FloatVec scale = PowerOfTwo(d, n);
  FloatVec y = hn::MulAdd(Expm1Reduced(d, r), scale, hn::Sub(scale, one));
  y = hn::IfThenElse(hn::IsNaN(x), x, y);
  const auto beyond = hn::Gt(x, hn::Set(d, 88.0f));
  return hn::AllFalse(d, beyond) ? y : hn::IfThenElse(beyond, Exp(d, x), y);
}

// y as floats. The emulated targets' DemoteTo stops at the largest float; half of y does not.
template <typename Tag>
HWY_INLINE hn::Vec<Tag> Narrowed(Tag d, DoubleVec y) {
  const auto narrow = hn::DemoteTo(d, y);
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  const auto half = hn::DemoteTo(d, hn::Mul(y, hn::Set(DoubleTag(), 0.5)));
  const auto largest = hn::Set(d, std::numeric_limits<float>::max());
  return hn::IfThenElse(hn::Lt(hn::Abs(narrow), largest), narrow, hn::Add(half, half));
#else
  return narrow;
#endif
}

// function(dd, x…) of doubles.
#if HWY_TARGET == HWY_SCALAR
template <typename Function, typename... Vectors>
HWY_INLINE SplitDouble InDouble(FloatTag d, const Function& function, Vectors... x) {
  const DoubleTag dd;
  const DoubleVec y = function(dd, hn::PromoteTo(dd, x)...);
  const FloatVec value = Narrowed(d, y);
  return {value, hn::DemoteTo(d, hn::Sub(y, hn::PromoteTo(dd, value)))};
}
#else
template <typename Function, typename... Vectors>
HWY_INLINE SplitDouble InDouble(FloatTag d, const Function& function, Vectors... x) {
  const DoubleTag dd;
  const hn::Half<FloatTag> half;
  const DoubleVec low = function(dd, hn::PromoteTo(dd, hn::LowerHalf(half, x))...);
  const DoubleVec high = function(dd, hn::PromoteTo(dd, hn::UpperHalf(half, x))...);
  const auto rounded_low = Narrowed(half, low);
  const auto rounded_high = Narrowed(half, high);
  const auto rest = [&](DoubleVec y, auto rounded) HWY_ATTR {
    return hn::DemoteTo(half, hn::Sub(y, hn::PromoteTo(dd, rounded)));
  };
  return {hn::Combine(d, rounded_high, rounded_low),
          hn::Combine(d, rest(high, rounded_high), rest(low, rounded_low))};
}
#endif

// a · b, exactly.
HWY_INLINE SplitDouble ProductOf(FloatTag d, FloatVec a, FloatVec b) {
#if HWY_NATIVE_FMA
  const FloatVec value = hn::Mul(a, b);
  return {value, hn::MulSub(a, b, value)};
#else
  const auto product = [](DoubleTag /*dd*/, DoubleVec v, DoubleVec w)
                           HWY_ATTR { return hn::Mul(v, w); };
  return InDouble(d, product, a, b);
#endif
}

// The argument z of functions of e^z: x, or βx without the error of its rounding, which e^z would
// multiply.
struct Itself {
  HWY_INLINE FloatVec operator()(FloatTag /*d*/, FloatVec x) const { return x; }
};
struct Multiple {
  float beta;

  HWY_INLINE SplitDouble operator()(FloatTag d, FloatVec x) const {
    return ProductOf(d, x, hn::Set(d, beta));
  }
};

// Calls body with the cheapest argument βx.
template <typename Body>
void WithArgument(float beta, const Body& body) {
  if (beta == 1) {
    body(Itself());
  } else {
    body(Multiple{beta});
  }
}

// −|z|
HWY_INLINE FloatVec MinusAbs(FloatTag /*d*/, FloatVec z) { return hn::Neg(hn::Abs(z)); }
HWY_INLINE SplitDouble MinusAbs(FloatTag d, const SplitDouble& z) {
  const auto below = hn::Lt(z.value, hn::Zero(d));
  return {hn::Neg(hn::Abs(z.value)), hn::IfThenElse(below, z.further, hn::Neg(z.further))};
}

// Where |z| <= bound: there shorter forms neither overflow nor lose what is small.
template <typename Number>
HWY_INLINE hn::Mask<FloatTag> Within(FloatTag d, const Number& z, float bound) {
  return hn::Le(hn::Abs(ValueOf(z)), hn::Set(d, bound));
}

HWY_INLINE hn::Mask<FloatTag> IsFinite(FloatTag d, FloatVec x) {
  return Within(d, x, std::numeric_limits<float>::max());
}

// What a loop seldom needs, out of its way.
template <typename Any>
HWY_NOINLINE FloatVec Seldom(Any any) {
  return any();
}

// `quick` where `moderate`, any() elsewhere, which is left out where all lanes are moderate. Chosen
// by lane, so that no result depends on its neighbours.
template <typename Any>
HWY_INLINE FloatVec QuickWhere(FloatTag d, hn::Mask<FloatTag> moderate, FloatVec quick,
                               const Any& any) {
  if (HWY_LIKELY(hn::AllTrue(d, moderate))) return quick;
  return hn::IfThenElse(moderate, quick, Seldom(any));
}

// y, but NaN where x is infinite or NaN.
HWY_INLINE FloatVec OrNaN(FloatVec y, FloatVec x) { return hn::Add(y, hn::Sub(x, x)); }

// x held to ±1e30, so that no multiple of it is infinite; NaN where x is infinite.
HWY_INLINE FloatVec HeldOrNaN(FloatTag d, FloatVec x) {
  const FloatVec bound = hn::Set(d, 1e30f);
  return OrNaN(hn::Min(hn::Max(x, hn::Neg(bound)), bound), x);
}

// ln((1 + f) · 2ᵏ) for 1 + f around 1; Cephes' polynomial.
HWY_INLINE FloatVec LogReduced(FloatTag d, FloatVec f, FloatVec k) {
  const FloatVec square = hn::Mul(f, f);
  FloatVec p = hn::MulAdd(hn::Set(d, 7.0376836292e-2f), f, hn::Set(d, -1.1514610310e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.1676998740e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, -1.2420140846e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.4249322787e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, -1.6668057665e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 2.0000714765e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, -2.4999993993e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 3.3333331174e-1f));
  // f − f²/2 + f³p + k ln 2, the smallest first.
  FloatVec y = hn::MulAdd(k, hn::Set(d, -2.12194440e-4f), hn::Mul(hn::Mul(p, f), square));
  y = hn::NegMulAdd(hn::Set(d, 0.5f), square, y);
  return hn::MulAdd(k, hn::Set(d, 0.693359375f), hn::Add(f, y));
}

// ln x for 1 <= x <= 2 (1 <= x <= 3).
HWY_INLINE FloatVec LogOneToTwo(FloatTag d, FloatVec x) {
  const FloatVec one = hn::Set(d, 1.0f);
  const auto above = hn::Ge(x, hn::Set(d, 1.41421356f));
  const FloatVec m = hn::IfThenElse(above, hn::Mul(x, hn::Set(d, 0.5f)), x);
  return LogReduced(d, hn::Sub(m, one), hn::IfThenElseZero(above, one));
}

HWY_INLINE FloatVec LogOneToThree(FloatTag d, FloatVec x) {
  const FloatVec one = hn::Set(d, 1.0f);
  const auto above = hn::Ge(x, hn::Set(d, 1.41421356f));
  const auto far_above = hn::Ge(x, hn::Set(d, 2.82842712f));
  const FloatVec scale =
      hn::IfThenElse(far_above, hn::Set(d, 0.25f), hn::IfThenElse(above, hn::Set(d, 0.5f), one));
  const FloatVec k = hn::IfThenElse(far_above, hn::Set(d, 2.0f), hn::IfThenElseZero(above, one));
  return LogReduced(d, hn::MulSub(x, scale, one), k);
}

// ln(1 + t) for 0 <= t <= 1, as near for small t as for others.
HWY_INLINE FloatVec Log1pOfUnit(FloatTag d, FloatVec t) {
  const auto above = hn::Ge(t, hn::Set(d, 0.41421356f));
  const FloatVec half = hn::Set(d, 0.5f);
  const FloatVec f = hn::IfThenElse(above, hn::MulSub(t, half, half), t);
  return LogReduced(d, f, hn::IfThenElseZero(above, hn::Set(d, 1.0f)));
}

// ln x. Of 0 it is −∞, below 0 a NaN.
HWY_INLINE FloatVec Log(FloatTag d, FloatVec x) {
  const hn::RebindToSigned<FloatTag> di;
  const FloatVec one = hn::Set(d, 1.0f);
  // Subnormal numbers are made normal.
  const auto tiny = hn::Lt(x, hn::Set(d, 0x1p-126f));
  const FloatVec scaled = hn::IfThenElse(tiny, hn::Mul(x, hn::Set(d, 0x1p24f)), x);
  // x = m 2ᵏ, m in [√½, √2).
  const auto bits = hn::BitCast(di, scaled);
  const auto k = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3F3504F3)));
  const FloatVec m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(k)));
  const FloatVec shift = hn::IfThenElseZero(tiny, hn::Set(d, 24.0f));
  const FloatVec y = LogReduced(d, hn::Sub(m, one), hn::Sub(hn::ConvertTo(d, k), shift));
  const FloatVec infinity = hn::Inf(d);
  const FloatVec outside = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), hn::NaN(d));
  const auto inside = hn::And(hn::Gt(x, hn::Zero(d)), hn::Lt(x, infinity));
  return hn::IfThenElse(inside, y, hn::IfThenElse(hn::Eq(x, infinity), x, outside));
}

// ln(1 + x), as near for small x as for others.
HWY_INLINE FloatVec Log1p(FloatTag d, FloatVec x) {
  const auto small = hn::Lt(hn::Abs(x), hn::Set(d, 0.29f));
  return hn::IfThenElse(small, LogReduced(d, x, hn::Zero(d)), Log(d, hn::Add(x, hn::Set(d, 1.0f))));
}

// Cephes' polynomial below 0.625, 1 − 2/(e²ˣ + 1) above.
HWY_INLINE FloatVec TanhOf(FloatTag d, FloatVec x) {
  const FloatVec one = hn::Set(d, 1.0f);
  const FloatVec a = hn::Abs(x);
  const FloatVec s = hn::Mul(x, x);
  FloatVec p = hn::MulAdd(hn::Set(d, -5.70498872745e-3f), s, hn::Set(d, 2.06390887954e-2f));
  p = hn::MulAdd(p, s, hn::Set(d, -5.37397155531e-2f));
  p = hn::MulAdd(p, s, hn::Set(d, 1.33314422036e-1f));
  p = hn::MulAdd(p, s, hn::Set(d, -3.33332819422e-1f));
  const FloatVec near = hn::MulAdd(hn::Mul(p, s), x, x);
  const FloatVec e = ExpOfModerate(d, hn::Min(hn::Add(a, a), hn::Set(d, 40.0f)));
  const FloatVec far = hn::Sub(one, hn::Div(hn::Set(d, 2.0f), hn::Add(e, one)));
  const FloatVec y = hn::IfThenElse(hn::Lt(a, hn::Set(d, 0.625f)), near, hn::CopySign(far, x));
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

// numerator / (1 + e⁻ᶻ) where |z| <= 80.
template <typename Number>
HWY_INLINE FloatVec ShareOfModerate(FloatTag d, FloatVec numerator, const Number& z) {
  return hn::Div(numerator, hn::Add(hn::Set(d, 1.0f), ExpOfModerate(d, NegativeOf(z))));
}

// 1 / (1 + e⁻ᶻ).
template <typename Number>
HWY_INLINE FloatVec LogisticOf(FloatTag d, const Number& z) {
  const FloatVec one = hn::Set(d, 1.0f);
  return QuickWhere(d, Within(d, z, 80), ShareOfModerate(d, one, z), [&]() HWY_ATTR {
    // Of e^−|z|, which does not overflow.
    const FloatVec t = Exp(d, MinusAbs(d, z));
    const FloatVec numerator = hn::IfThenElse(hn::Lt(ValueOf(z), hn::Zero(d)), t, one);
    return hn::Div(numerator, hn::Add(one, t));
  });
}

// ln(1 + e^z) = max(z, 0) + ln(1 + e^−|z|).
template <typename Number>
HWY_INLINE FloatVec SoftplusOf(FloatTag d, const Number& z) {
  const FloatVec rest = Log1pOfUnit(d, Exp(d, MinusAbs(d, z)));
  return hn::Add(hn::IfThenZeroElse(hn::Lt(ValueOf(z), hn::Zero(d)), ValueOf(z)), rest);
}

HWY_INLINE DoubleVec Exp(DoubleTag d, DoubleVec x) {
  // What becomes 0 is kept from underflowing step by step.
  const auto zero = hn::Lt(x, hn::Set(d, -746.0));
  const DoubleVec bounded = hn::IfThenZeroElse(zero, hn::Min(x, hn::Set(d, 710.0)));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenZeroElse(zero, hn::Exp(d, bounded)));
}

HWY_INLINE DoubleVec ExpNonPositive(DoubleTag d, DoubleVec x) {
  return hn::Exp(d, hn::Max(x, hn::Set(d, -708.0)));
}

HWY_INLINE DoubleVec LogOneToTwo(DoubleTag d, DoubleVec x) { return hn::Log(d, x); }
HWY_INLINE DoubleVec LogOneToThree(DoubleTag d, DoubleVec x) { return hn::Log(d, x); }

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
