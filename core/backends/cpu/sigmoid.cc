// Sigmoid: 1 / (1 + e⁻ˣ). SigmoidBackward: (g · (1 − y)) · y.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/sigmoid.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// By t = e^−|x|, which does not overflow: 1 / (1 + t), below 0 t / (1 + t).
struct Logistic {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    const FloatVec one = hn::Set(d, 1.0f);
    const FloatVec t = Exp(d, hn::Neg(hn::Abs(in[0])));
    const FloatVec numerator = hn::IfThenElse(hn::Lt(in[0], hn::Zero(d)), t, one);
    return hn::Div(numerator, hn::Add(one, t));
  }
};

struct LogisticGradient {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    return hn::Mul(hn::Mul(in[0], hn::Sub(hn::Set(d, 1.0f), in[1])), in[1]);
  }
};

void Sigmoid(const KernelArgs& args) { Map<1>(args, Logistic()); }
void SigmoidBackward(const KernelArgs& args) { Map<2>(args, LogisticGradient()); }

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

HWY_EXPORT(Sigmoid);
HWY_EXPORT(SigmoidBackward);

namespace {

absl::Status ExecuteSigmoid(const KernelArgs& args) {
  HWY_DYNAMIC_DISPATCH(Sigmoid)(args);
  return absl::OkStatus();
}

absl::Status ExecuteSigmoidBackward(const KernelArgs& args) {
  HWY_DYNAMIC_DISPATCH(SigmoidBackward)(args);
  return absl::OkStatus();
}

size_t NoWorkspace(const OpCall& /*call*/) { return 0; }

}  // namespace

extern constinit const Kernel kSigmoidKernel = {NoWorkspace, ExecuteSigmoid};
extern constinit const Kernel kSigmoidBackwardKernel = {NoWorkspace, ExecuteSigmoidBackward};

}  // namespace opserve::cpu
#endif
