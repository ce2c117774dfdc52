// LogSigmoid and LogSigmoidForward: −ln(1 + e⁻ˣ); the latter keeps e^−|x|, too.
// LogSigmoidBackward: g σ(−x), of x alone.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/log_sigmoid.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

struct LogSigmoidOf {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    const FloatVec rest = Log1pOfUnit(d, Exp(d, hn::Neg(hn::Abs(in[0]))));
    return hn::Sub(hn::IfThenElseZero(hn::Lt(in[0], hn::Zero(d)), in[0]), rest);
  }
};

struct LogSigmoidGradient {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    return hn::Mul(in[0], LogisticOf(d, hn::Neg(in[1])));
  }
};

// e^−|x|
struct LogSigmoidBuffer {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    return Exp(d, hn::Neg(hn::Abs(in[0])));
  }
};

void LogSigmoid(const KernelArgs& args) { Map<1>(args, LogSigmoidOf()); }

void LogSigmoidForward(const KernelArgs& args) {
  Map<1>(args, LogSigmoidOf());
  Map<1>(args, LogSigmoidBuffer(), 1);
}

void LogSigmoidBackward(const KernelArgs& args) { Map<2>(args, LogSigmoidGradient()); }

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(LogSigmoid, NoWorkspace);
OPSERVE_CPU_KERNEL(LogSigmoidForward, NoWorkspace);
OPSERVE_CPU_KERNEL(LogSigmoidBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
