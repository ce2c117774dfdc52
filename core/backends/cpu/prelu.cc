// Prelu: x where x > 0, w x elsewhere, w one for all or one for each channel. PreluBackward: g or
// w g, likewise; and for each w Σ g x where x is not > 0.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/prelu.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/prelu_plan.h"
#include "core/backends/cpu/sums-inl.h"
#include "core/backends/cpu/views.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

HWY_INLINE FloatVec PassOrScale(FloatTag d, FloatVec g, FloatVec x, FloatVec w) {
  return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), g, hn::Mul(w, g));
}

// Of x, for one w.
struct PreluBy {
  float w;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    return PassOrScale(d, in[0], in[0], hn::Set(d, w));
  }
};

// Of x and w.
struct PreluOf {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    return PassOrScale(d, in[0], in[0], in[1]);
  }
  PreluBy OfLast(float w) const { return {w}; }
};

// Of g and x, for one w.
struct PreluGradientBy {
  float w;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    return PassOrScale(d, in[0], in[1], hn::Set(d, w));
  }
};

// Of g, x and w.
struct PreluGradient {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 3>& in) const {
    return PassOrScale(d, in[0], in[1], in[2]);
  }
  PreluGradientBy OfLast(float w) const { return {w}; }
};

// Of g and x.
struct PreluWeightGradient {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    return hn::IfThenZeroElse(hn::Gt(in[1], hn::Zero(d)), hn::Mul(in[0], in[1]));
  }
};

void Prelu(const KernelArgs& args) {
  ViewCall call(args);
  call.Take(0).Take(1, PreluWeights(args.call.input(0), args.call.input(1))).Make(0);
  Map<2>(call.args(), PreluOf());
}

void PreluBackward(const KernelArgs& args) {
  ViewCall call(args);
  call.Take(0).Take(1).Take(2, PreluWeights(args.call.input(1), args.call.input(2))).Make(0);
  Map<3>(call.args(), PreluGradient());

  const ChannelSpace channels = PreluChannels(args.call);
  ViewCall sums(args);
  sums.Take(0, channels.View(args.call.input(0))).Take(1, channels.View(args.call.input(1)));
  const StridedTensor out = OutputTensor(args, 1);
  Sums<2, PreluWeightGradient>(sums.args(), channels.sums(), out, PreluWeightGradient(), 1).Run();
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {
namespace {

size_t PreluWorkspace(const OpCall& call) { return PreluChannels(call).sums().bytes(); }

}  // namespace

OPSERVE_CPU_KERNEL(Prelu, NoWorkspace);
OPSERVE_CPU_KERNEL(PreluBackward, PreluWorkspace);

}  // namespace opserve::cpu
#endif
