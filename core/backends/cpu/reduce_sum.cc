// ReduceSum: Σ x over some of its dimensions. Mean: the same, over how many they are.
#include "core/backends/cpu/reduce_plan.h"

namespace opserve::cpu {
namespace {

size_t Workspace(const OpCall& call) { return ReducePlan(call).sums().bytes(); }

absl::Status ExecuteReduceSum(const KernelArgs& args) {
  const ReducePlan plan(args.call);
  SumInput(args, 0, plan.space(), plan.sums(), 0, 1);
  return absl::OkStatus();
}

absl::Status ExecuteMean(const KernelArgs& args) {
  const ReducePlan plan(args.call);
  const SumsPlan sums = plan.sums();
  SumInput(args, 0, plan.space(), sums, 0, static_cast<double>(sums.terms()));
  return absl::OkStatus();
}

}  // namespace

extern constinit const Kernel kReduceSumKernel = {Workspace, ExecuteReduceSum};
extern constinit const Kernel kMeanKernel = {Workspace, ExecuteMean};

}  // namespace opserve::cpu
