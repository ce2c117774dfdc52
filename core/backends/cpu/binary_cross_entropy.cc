// BinaryCrossEntropy: −w (t ln x + (1 − t) ln(1 − x)), each logarithm at least −100.
// BinaryCrossEntropyBackward: (x − t) / max((1 − x) x, 1e-12) · w · (g · k).
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/binary_cross_entropy.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/loss-inl.h"
#include "core/backends/cpu/math-inl.h"
#include "core/backends/cpu/reduced_output.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

struct CrossEntropy {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 3>& in) const {
    const FloatVec x = in[0];
    const FloatVec t = in[1];
    const FloatVec least = hn::Set(d, -100.0f);
    const FloatVec one = hn::Set(d, 1.0f);
    const FloatVec hit = Log(d, x);
    const FloatVec miss = Log1p(d, hn::Neg(x));
    const FloatVec first = hn::Mul(t, hn::IfThenElse(hn::Lt(hit, least), least, hit));
    const FloatVec second =
        hn::Mul(hn::Sub(one, t), hn::IfThenElse(hn::Lt(miss, least), least, miss));
    return hn::Neg(hn::Mul(hn::Add(first, second), in[2]));
  }
};

struct CrossEntropyGradient {
  float k;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 4>& in) const {
    const FloatVec x = in[1];
    const FloatVec product = hn::Mul(hn::Sub(hn::Set(d, 1.0f), x), x);
    const FloatVec least = hn::Set(d, 1e-12f);
    const FloatVec divisor = hn::IfThenElse(hn::Lt(product, least), least, product);
    const FloatVec slope = hn::Div(hn::Sub(x, in[2]), divisor);
    return hn::Mul(hn::Mul(slope, in[3]), hn::Mul(in[0], hn::Set(d, k)));
  }
};

void BinaryCrossEntropy(const KernelArgs& args) { RunLoss<3>(args, CrossEntropy()); }

void BinaryCrossEntropyBackward(const KernelArgs& args) {
  Map<4>(args, CrossEntropyGradient{GradientFactor(args.call, ReductionOf(args.call, 0))});
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(BinaryCrossEntropy, LossWorkspace);
OPSERVE_CPU_KERNEL(BinaryCrossEntropyBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
