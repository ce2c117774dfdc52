// SwiGlu: a σ(a) b, a and b the halves of its input. SwiGluGrad: g b (σ(a) + a σ(a) (1 − σ(a))) and
// g a σ(a).
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/swi_glu.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/silu-inl.h"
#include "core/backends/cpu/views.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// Of a and b; of a and g.
struct SwiGluProduct {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    const FloatVec quick = hn::Mul(ShareOfModerate(d, in[0], in[0]), in[1]);
    return QuickWhere(d, Within(d, in[0], 80), quick,
                      [&]() HWY_ATTR { return SwishValue(d, in[0], in[0]).Times(in[1]); });
  }
};

// Of g, a and b.
struct SwiGluGateGradient {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 3>& in) const {
    const FloatVec product = hn::Mul(in[0], in[2]);
    const FloatVec quick = hn::Mul(SwishSlopeOfModerate(d, in[1]), product);
    const auto moderate = hn::And(Within(d, in[1], 40), IsFinite(d, product));
    return QuickWhere(d, moderate, quick, [&]() HWY_ATTR {
      return SwishSlope(d, Itself(), in[1]).Scaled(in[0]).Times(in[2]);
    });
  }
};

void SwiGlu(const KernelArgs& args) {
  const Halves x(args.call, args.call.input(0));
  ViewCall call(args);
  call.Take(0, x.first()).Take(0, x.second()).Make(0);
  Map<2>(call.args(), SwiGluProduct());
}

void SwiGluGrad(const KernelArgs& args) {
  const Halves x(args.call, args.call.input(1));
  const Halves out(args.call, args.call.output(0).desc);
  ViewCall first(args);
  first.Take(0).Take(1, x.first()).Take(1, x.second()).Make(0, out.first());
  Map<3>(first.args(), SwiGluGateGradient());
  ViewCall second(args);
  second.Take(1, x.first()).Take(0).Make(0, out.second());
  Map<2>(second.args(), SwiGluProduct());
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(SwiGlu, NoWorkspace);
OPSERVE_CPU_KERNEL(SwiGluGrad, NoWorkspace);

}  // namespace opserve::cpu
#endif
