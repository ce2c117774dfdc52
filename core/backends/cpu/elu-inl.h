// Elu and its gradient, also of Selu. Included once a SIMD target.

#if defined(OPSERVE_CPU_ELU_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_ELU_INL_H_
#undef OPSERVE_CPU_ELU_INL_H_
#else
#define OPSERVE_CPU_ELU_INL_H_
#endif

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// scale x where x > 0, saturation (e^(input_scale x) − 1) elsewhere.
struct EluOf {
  float scale;
  float saturation;  // alpha scale
  float input_scale;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    const FloatVec e = Expm1(d, hn::Mul(in[0], hn::Set(d, input_scale)));
    const FloatVec y = hn::Mul(e, hn::Set(d, saturation));
    return hn::IfThenElse(hn::Gt(in[0], hn::Zero(d)), hn::Mul(in[0], hn::Set(d, scale)), y);
  }
};

// From the result y: g scale where y > 0, g input_scale (y + saturation) elsewhere.
struct EluGradientOfResult {
  float scale;
  float saturation;
  float input_scale;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    const FloatVec slope = hn::Mul(hn::Add(in[1], hn::Set(d, saturation)), hn::Set(d, input_scale));
    const auto positive = hn::Gt(in[1], hn::Zero(d));
    return hn::Mul(in[0], hn::IfThenElse(positive, hn::Set(d, scale), slope));
  }
};

// From the input x: g scale where x > 0, g steepness e^(input_scale x) elsewhere.
template <typename Argument>
struct EluGradient {
  Argument argument;  // input_scale x
  float scale;
  float steepness;  // input_scale saturation

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    const auto positive = hn::Gt(in[1], hn::Zero(d));
    const FloatVec e = Exp(d, argument(d, hn::IfThenZeroElse(positive, in[1])));
    const FloatVec slope = hn::Mul(e, hn::Set(d, steepness));
    return hn::Mul(in[0], hn::IfThenElse(positive, hn::Set(d, scale), slope));
  }
};

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
