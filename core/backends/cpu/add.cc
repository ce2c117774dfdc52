// Add: a + αb. Sub: a − αb. Rounded once, where need be by way of doubles.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/add.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

struct SumOfTwo {
  float alpha;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
#if HWY_NATIVE_FMA
    return hn::MulAdd(in[1], hn::Set(d, alpha), in[0]);
#else
    const double factor = alpha;
    const auto sum = [factor](DoubleTag dd, DoubleVec a, DoubleVec b)
                         HWY_ATTR { return hn::Add(a, hn::Mul(b, hn::Set(dd, factor))); };
    return InDouble(d, sum, in[0], in[1]).value;
#endif
  }
};

void Add(const KernelArgs& args) { Map<2>(args, SumOfTwo{ScalarOf(args, 0)}); }
void Sub(const KernelArgs& args) { Map<2>(args, SumOfTwo{-ScalarOf(args, 0)}); }

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(Add, NoWorkspace);
OPSERVE_CPU_KERNEL(Sub, NoWorkspace);

}  // namespace opserve::cpu
#endif
