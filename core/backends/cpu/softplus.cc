// Softplus: ln(1 + e^(βx)) / β where βx <= threshold, else x. SoftplusBackward: g σ(βx) or g,
// likewise.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/softplus.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

template <typename Argument>
struct ScaledSoftplus {
  Argument argument;
  float beta;
  float threshold;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    const auto z = argument(d, in[0]);
    const auto linear = hn::Gt(ValueOf(z), hn::Set(d, threshold));
    return hn::IfThenElse(linear, in[0], hn::Div(SoftplusOf(d, z), hn::Set(d, beta)));
  }
};

template <typename Argument>
struct ScaledSoftplusGradient {
  Argument argument;
  float threshold;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    const auto z = argument(d, in[1]);
    const auto linear = hn::Gt(ValueOf(z), hn::Set(d, threshold));
    return hn::IfThenElse(linear, in[0], hn::Mul(in[0], LogisticOf(d, z)));
  }
};

void Softplus(const KernelArgs& args) {
  const float beta = ScalarOf(args, 0);
  const float threshold = ScalarOf(args, 1);
  WithArgument(beta, [&](auto z) {
    Map<1>(args, ScaledSoftplus<decltype(z)>{z, beta, threshold});
  });
}

void SoftplusBackward(const KernelArgs& args) {
  const float threshold = ScalarOf(args, 1);
  WithArgument(ScalarOf(args, 0), [&](auto z) {
    Map<2>(args, ScaledSoftplusGradient<decltype(z)>{z, threshold});
  });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(Softplus, NoWorkspace);
OPSERVE_CPU_KERNEL(SoftplusBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
