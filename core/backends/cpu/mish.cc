// Mish: x tanh(ln(1 + eˣ)), and its gradient. With e = eˣ, tanh(ln(1 + e)) = n / (n + 2) where
// n = e (e + 2), and the slope is e ((e + 2) (n + 2) + 4 x (1 + e)) / (n + 2)². Above 0 both by
// t = e⁻ˣ: (1 + 2t) / D and (1 + 2t) / D + 4 x t² (1 + t) / D², D = 1 + 2t + 2t².
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/mish.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/decay-inl.h"
#include "core/backends/cpu/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

struct MishOf {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    const FloatVec one = hn::Set(d, 1.0f);
    const FloatVec two = hn::Set(d, 2.0f);
    const FloatVec x = in[0];
    const Decay decay(d, hn::Neg(hn::Abs(x)));
    const FloatVec t = decay.value();
    const auto below = hn::Lt(x, hn::Zero(d));
    // Above: (1 + 2t) / (1 + 2t + 2t²). Below: e (e + 2) / (e (e + 2) + 2).
    const FloatVec n = hn::Mul(t, hn::Add(t, two));
    const FloatVec above = hn::MulAdd(two, t, one);
    const FloatVec numerator = hn::IfThenElse(below, hn::Add(t, two), above);
    const FloatVec denominator =
        hn::IfThenElse(below, hn::Add(n, two), hn::MulAdd(hn::Mul(two, t), t, above));
    const FloatVec y = hn::Mul(x, hn::Div(numerator, denominator));
    return hn::IfThenElse(below, decay.Times(y), y);
  }
};

struct MishGradient {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    const FloatVec one = hn::Set(d, 1.0f);
    const FloatVec two = hn::Set(d, 2.0f);
    const Decay decay(d, hn::Neg(hn::Abs(in[1])));
    const FloatVec t = decay.value();
    const auto below = hn::Lt(in[1], hn::Zero(d));
    const FloatVec n2 = hn::MulAdd(t, hn::Add(t, two), two);
    const FloatVec above = hn::MulAdd(two, t, one);
    const FloatVec denominator = hn::IfThenElse(below, n2, hn::MulAdd(hn::Mul(two, t), t, above));
    const FloatVec first = hn::IfThenElse(below, hn::Add(t, two), above);
    const FloatVec square = hn::Mul(t, t);
    const FloatVec factor = hn::IfThenElse(below, hn::Add(one, t), hn::MulAdd(square, t, square));
    const FloatVec rest = hn::Mul(hn::Set(d, 4.0f), hn::Mul(HeldOrNaN(d, in[1]), factor));
    const FloatVec sum = hn::Add(first, hn::Div(rest, denominator));
    const FloatVec slope = hn::Div(sum, denominator);
    return hn::Mul(in[0], hn::IfThenElse(below, decay.Times(slope), slope));
  }
};

void Mish(const KernelArgs& args) { Map<1>(args, MishOf()); }
void MishBackward(const KernelArgs& args) { Map<2>(args, MishGradient()); }

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(Mish, NoWorkspace);
OPSERVE_CPU_KERNEL(MishBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
