// Mul: a b. Div: a / b.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/mul.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

struct ProductOfTwo {
  HWY_INLINE FloatVec operator()(FloatTag /*d*/, const std::array<FloatVec, 2>& in) const {
    return hn::Mul(in[0], in[1]);
  }
};

struct QuotientOfTwo {
  HWY_INLINE FloatVec operator()(FloatTag /*d*/, const std::array<FloatVec, 2>& in) const {
    return hn::Div(in[0], in[1]);
  }
};

void Mul(const KernelArgs& args) { Map<2>(args, ProductOfTwo()); }
void Div(const KernelArgs& args) { Map<2>(args, QuotientOfTwo()); }

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(Mul, NoWorkspace);
OPSERVE_CPU_KERNEL(Div, NoWorkspace);

}  // namespace opserve::cpu
#endif
