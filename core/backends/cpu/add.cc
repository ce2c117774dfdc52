// Add: a + αb. Sub: a − αb.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/add.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

struct SumOfTwo {
  float alpha;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    return hn::MulAdd(in[1], hn::Set(d, alpha), in[0]);
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
