// Vector exp and log of float and double that keep NaN and infinities, where Highway's make finite numbers of them. Included
// once a SIMD target.

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

// e^x, with gradual underflow. Subnormal results are made as integers: as products they would each cost an assist of the CPU.
HWY_INLINE FloatVec Exp(FloatTag d, FloatVec x) {
  const hn::RebindToSigned<FloatTag> di;
  // Beyond these the result is 0 or infinite.
  const FloatVec bounded = hn::Min(hn::Max(x, hn::Set(d, -104.0f)), hn::Set(d, 89.0f));
  IntVec n;
  const FloatVec p = ExpParts(d, bounded, n);
  const IntVec least = hn::Set(di, -126);
  const auto tiny = hn::Le(hn::ConvertTo(d, n), hn::Set(d, -126.0f));
  // 2ⁿ in two steps: n may be one beyond the exponent's range.
  const IntVec normal = hn::Max(n, hn::Set(di, -125));
  const IntVec half = hn::ShiftRight<1>(normal);
  const FloatVec y = hn::Mul(hn::Mul(p, PowerOfTwo(d, half)), PowerOfTwo(d, hn::Sub(normal, half)));
  // In units of the smallest number, 2⁻¹⁴⁹.
  const FloatVec units = hn::Mul(p, PowerOfTwo(d, hn::Add(hn::Min(n, least), hn::Set(di, 149))));
  const FloatVec number = hn::IfThenElse(tiny, hn::BitCast(d, hn::NearestInt(units)), y);
  return hn::IfThenElse(hn::IsNaN(x), x, number);
}

// e^x for x <= 0; what would be below the smallest normal number is 0, and so is the result of NaN.
HWY_INLINE FloatVec ExpNonPositive(FloatTag d, FloatVec x) {
  const FloatVec least = hn::Set(d, -87.0f);
  IntVec n;
  const FloatVec p = ExpParts(d, hn::Max(x, least), n);
  const hn::RebindToSigned<FloatTag> di;
  const FloatVec y = hn::BitCast(d, hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(n)));
  return hn::IfThenElseZero(hn::Ge(x, least), y);
}

// ln x for 1 <= x <= 3: x = 2ᵏ(1 + f), 1 + f around 1; Cephes' polynomial.
HWY_INLINE FloatVec LogOneToThree(FloatTag d, FloatVec x) {
  const FloatVec zero = hn::Zero(d);
  const FloatVec half = hn::Set(d, 0.5f);
  const auto above = hn::Ge(x, hn::Set(d, 1.41421356f));
  const auto far_above = hn::Ge(x, hn::Set(d, 2.82842712f));
  FloatVec m = hn::IfThenElse(above, hn::Mul(x, half), x);
  m = hn::IfThenElse(far_above, hn::Mul(m, half), m);
  const FloatVec one = hn::Set(d, 1.0f);
  const FloatVec k = hn::Add(hn::IfThenElse(above, one, zero), hn::IfThenElse(far_above, one, zero));
  const FloatVec f = hn::Sub(m, one);
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
  y = hn::NegMulAdd(half, square, y);
  return hn::MulAdd(k, hn::Set(d, 0.693359375f), hn::Add(f, y));
}

HWY_INLINE DoubleVec Exp(DoubleTag d, DoubleVec x) {
  // What becomes 0 is kept from underflowing step by step.
  const auto zero = hn::Lt(x, hn::Set(d, -746.0));
  const DoubleVec bounded = hn::IfThenZeroElse(zero, hn::Min(x, hn::Set(d, 710.0)));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenZeroElse(zero, hn::Exp(d, bounded)));
}

HWY_INLINE DoubleVec ExpNonPositive(DoubleTag d, DoubleVec x) {
  const DoubleVec least = hn::Set(d, -708.0);
  return hn::IfThenElseZero(hn::Ge(x, least), hn::Exp(d, hn::Max(x, least)));
}

HWY_INLINE DoubleVec LogOneToThree(DoubleTag d, DoubleVec x) { return hn::Log(d, x); }

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
