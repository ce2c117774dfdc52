// SmoothL1Loss, x = a − b: ½x²/β where |x| < β, |x| − ½β elsewhere.
// SmoothL1LossBackward: s · (g · k), s = −1 where x ≤ −β, +1 where x ≥ β, x/β between. β = 0 is L1.
#include <cmath>

#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/smooth_l1_loss.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/loss-inl.h"
#include "core/backends/cpu/reduced_output.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// x / β.
struct DivideBy {
  float beta;
  HWY_INLINE FloatVec operator()(FloatTag d, FloatVec x) const {
    return hn::Div(x, hn::Set(d, beta));
  }
};

// The same bits where 1/β is exact, many times faster.
struct MultiplyByInverse {
  float inverse;
  HWY_INLINE FloatVec operator()(FloatTag d, FloatVec x) const {
    return hn::Mul(x, hn::Set(d, inverse));
  }
};

template <typename Quotient>
struct SmoothDifference {
  float beta;
  Quotient over_beta;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    const FloatVec x = hn::Abs(hn::Sub(in[0], in[1]));
    const FloatVec b = hn::Set(d, beta);
    const FloatVec half = hn::Set(d, 0.5f);
    const FloatVec quadratic = over_beta(d, hn::Mul(hn::Mul(half, x), x));
    return hn::IfThenElse(hn::Lt(x, b), quadratic, hn::Sub(x, hn::Mul(half, b)));
  }
};

template <typename Quotient>
struct SlopeTimesGradient {
  float k;
  float beta;
  Quotient over_beta;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 3>& in) const {
    const FloatVec x = hn::Sub(in[1], in[2]);
    const FloatVec b = hn::Set(d, beta);
    const FloatVec one = hn::Set(d, 1.0f);
    // A NaN x is in neither comparison and stays NaN.
    FloatVec slope = over_beta(d, x);
    slope = hn::IfThenElse(hn::Le(x, hn::Neg(b)), hn::Neg(one), slope);
    slope = hn::IfThenElse(hn::Ge(x, b), one, slope);
    return hn::Mul(slope, hn::Mul(in[0], hn::Set(d, k)));
  }
};

// Calls body with the cheapest x / β.
template <typename Body>
void WithQuotient(float beta, const Body& body) {
  int exponent;
  const float inverse = 1 / beta;
  if (std::frexp(beta, &exponent) == 0.5f && std::isnormal(beta) && std::isnormal(inverse)) {
    body(MultiplyByInverse{inverse});
  } else {
    body(DivideBy{beta});
  }
}

void SmoothL1Loss(const KernelArgs& args) {
  const auto beta = static_cast<float>(args.call.attribute<double>(1));
  if (beta == 0) return RunLoss<2>(args, AbsoluteDifference());
  WithQuotient(beta, [&](auto quotient) {
    RunLoss<2>(args, SmoothDifference<decltype(quotient)>{beta, quotient});
  });
}

void SmoothL1LossBackward(const KernelArgs& args) {
  const float k = GradientFactor(args.call, ReductionOf(args.call, 0));
  const auto beta = static_cast<float>(args.call.attribute<double>(1));
  if (beta == 0) return Map<3>(args, SignTimesGradient{k});
  WithQuotient(beta, [&](auto quotient) {
    Map<3>(args, SlopeTimesGradient<decltype(quotient)>{k, beta, quotient});
  });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(SmoothL1Loss, LossWorkspace);
OPSERVE_CPU_KERNEL(SmoothL1LossBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
