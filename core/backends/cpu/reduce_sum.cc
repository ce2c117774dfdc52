// ReduceSum: Σ x over some of its dimensions. Mean: the same, over how many they are.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/reduce_sum.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/reduce_plan.h"
#include "core/backends/cpu/sums-inl.h"
#include "core/backends/cpu/views.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

void SumOver(const KernelArgs& args, const ReducePlan& plan, double divisor) {
  ViewCall views(args);
  views.Take(0, plan.space());
  const StridedTensor out = OutputTensor(args, 0);
  Sums<1, FirstInput>(views.args(), plan.sums(), out, FirstInput(), divisor).Run();
}

void ReduceSum(const KernelArgs& args) { SumOver(args, ReducePlan(args.call), 1); }

void Mean(const KernelArgs& args) {
  const ReducePlan plan(args.call);
  SumOver(args, plan, static_cast<double>(plan.sums().terms()));
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {
namespace {

size_t SumsWorkspace(const OpCall& call) { return ReducePlan(call).sums().bytes(); }

}  // namespace

OPSERVE_CPU_KERNEL(ReduceSum, SumsWorkspace);
OPSERVE_CPU_KERNEL(Mean, SumsWorkspace);

}  // namespace opserve::cpu
#endif
