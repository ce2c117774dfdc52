// Glu: a σ(b), a and b the halves of its input. GluBackward: g σ(b) and g a σ(b) (1 − σ(b)).
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/glu.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/decay-inl.h"
#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/views.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// e^−|b| and 1 + e^−|b|, NaN where b is NaN.
struct GluParts {
  HWY_INLINE GluParts(FloatTag d, FloatVec b) : decay(d, hn::Neg(hn::Abs(b))) {
    const FloatVec y = hn::Add(hn::Set(d, 1.0f), decay.value());
    sum = hn::IfThenElse(hn::IsNaN(b), b, y);
  }
  DeepDecay decay;
  FloatVec sum;
};

// σ(b)
HWY_INLINE Decaying GluSigmoid(FloatTag d, FloatVec b) {
  const GluParts t(d, b);
  return Decaying(hn::Lt(b, hn::Zero(d)), t.decay, hn::Div(hn::Set(d, 1.0f), t.sum));
}

// Of a and b; of g and b.
struct GluProduct {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    return QuickWhere(d, Within(d, in[1], 80), ShareOfModerate(d, in[0], in[1]),
                      [&]() HWY_ATTR { return GluSigmoid(d, in[1]).Times(in[0]); });
  }
};

// Of g, a and b.
struct GluGateGradient {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 3>& in) const {
    const FloatVec product = hn::Mul(in[0], in[1]);
    const FloatVec e = ExpOfModerate(d, hn::Neg(in[2]));
    const FloatVec sum = hn::Add(hn::Set(d, 1.0f), e);
    const FloatVec quick = hn::Mul(hn::Div(e, hn::Mul(sum, sum)), product);
    const auto moderate = hn::And(Within(d, in[2], 40), IsFinite(d, product));
    return QuickWhere(d, moderate, quick, [&]() HWY_ATTR {
      const GluParts t(d, in[2]);
      return t.decay.Times(hn::Div(hn::Div(in[0], t.sum), t.sum), in[1]);
    });
  }
};

void Glu(const KernelArgs& args) {
  const Halves self(args.call, args.call.input(0));
  ViewCall call(args);
  call.Take(0, self.first()).Take(0, self.second()).Make(0);
  Map<2>(call.args(), GluProduct());
}

void GluBackward(const KernelArgs& args) {
  const Halves self(args.call, args.call.input(1));
  const Halves out(args.call, args.call.output(0).desc);
  ViewCall first(args);
  first.Take(0).Take(1, self.second()).Make(0, out.first());
  Map<2>(first.args(), GluProduct());
  ViewCall second(args);
  second.Take(0).Take(1, self.first()).Take(1, self.second()).Make(0, out.second());
  Map<3>(second.args(), GluGateGradient());
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(Glu, NoWorkspace);
OPSERVE_CPU_KERNEL(GluBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
