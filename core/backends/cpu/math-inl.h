// Vector exp and log of float and double that keep NaN and infinities, where Highway's make finite
// numbers of them. Included once a SIMD target.

#if defined(OPSERVE_CPU_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_MATH_INL_H_
#undef OPSERVE_CPU_MATH_INL_H_
#else
#define OPSERVE_CPU_MATH_INL_H_
#endif

#include "core/backends/cpu/vector-inl.h"
#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

using DoubleTag = hn::ScalableTag<double>;
using DoubleVec = hn::Vec<DoubleTag>;

// e^r on [−½ ln 2, ½ ln 2]; Cephes' polynomial, 1 ulp.
HWY_INLINE FloatVec ExpReduced(FloatTag d, FloatVec r) {
  FloatVec p = hn::MulAdd(hn::Set(d, 1.9875691500e-4f), r, hn::Set(d, 1.3981999507e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 8.3334519073e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 4.1665795894e-2f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.6666665459e-1f));
  p = hn::MulAdd(p, r, hn::Set(d, 5.0000001201e-1f));
  return hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), hn::Set(d, 1.0f));
}

using IntVec = hn::Vec<hn::RebindToSigned<FloatTag>>;

// e^x = 2ⁿ · e^r. |x| must be below 2¹⁶.
HWY_INLINE FloatVec ExpParts(FloatTag d, FloatVec x, IntVec& n) {
  n = hn::NearestInt(hn::Mul(x, hn::Set(d, 1.44269504088896341f)));
  const FloatVec k = hn::ConvertTo(d, n);
  const FloatVec r = hn::NegMulAdd(k, hn::Set(d, 0.693359375f), x);
  return ExpReduced(d, hn::NegMulAdd(k, hn::Set(d, -2.12194440e-4f), r));
}

HWY_INLINE FloatVec PowerOfTwo(FloatTag d, IntVec n) {
  const hn::RebindToSigned<FloatTag> di;
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
}

// e^x of any x. Subnormal results are made as integers: as products they would each cost an assist
// of the CPU.
inline FloatVec ExpOfAny(FloatTag d, FloatVec x) {
  const hn::RebindToSigned<FloatTag> di;
  // Beyond these the result is 0 or infinite.
  const FloatVec bounded = hn::Min(hn::Max(x, hn::Set(d, -104.0f)), hn::Set(d, 89.0f));
  IntVec n;
  const FloatVec p = ExpParts(d, bounded, n);
  // 2ⁿ in two steps: n may be one beyond the exponent's range.
  const IntVec normal = hn::Max(n, hn::Set(di, -125));
  const IntVec half = hn::ShiftRight<1>(normal);
  const FloatVec y = hn::Mul(hn::Mul(p, PowerOfTwo(d, half)), PowerOfTwo(d, hn::Sub(normal, half)));
  // In units of the smallest number, 2⁻¹⁴⁹.
  const IntVec subnormal = hn::Min(n, hn::Set(di, -126));
  const FloatVec units = hn::Mul(p, PowerOfTwo(d, hn::Add(subnormal, hn::Set(di, 149))));
  const auto tiny = hn::Lt(hn::ConvertTo(d, n), hn::Set(d, -125.5f));
  const FloatVec number = hn::IfThenElse(tiny, hn::BitCast(d, hn::NearestInt(units)), y);
  return hn::IfThenElse(hn::IsNaN(x), x, number);
}

// e^x for −87 <= x <= 88.
HWY_INLINE FloatVec ExpOfModerate(FloatTag d, FloatVec x) {
  IntVec n;
  const FloatVec p = ExpParts(d, x, n);
  const hn::RebindToSigned<FloatTag> di;
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(n)));
}

// e^x, with gradual underflow.
HWY_INLINE FloatVec Exp(FloatTag d, FloatVec x) {
  const auto vanishes = hn::Lt(x, hn::Set(d, -104.0f));
  if (hn::AllTrue(d, vanishes)) return hn::Zero(d);
  const FloatVec rest = hn::IfThenZeroElse(vanishes, x);
  const auto moderate = hn::And(hn::Ge(rest, hn::Set(d, -87.0f)), hn::Le(rest, hn::Set(d, 88.0f)));
  if (hn::AllTrue(d, moderate)) return hn::IfThenZeroElse(vanishes, ExpOfModerate(d, rest));
  return ExpOfAny(d, x);
}

// e^x for x <= 0, at least e^−87; that is also the result of NaN.
HWY_INLINE FloatVec ExpNonPositive(FloatTag d, FloatVec x) {
  return ExpOfModerate(d, hn::Max(x, hn::Set(d, -87.0f)));
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
