// L1Loss: |a − b|. L1LossBackward: sign(a − b) · (g · k), sign(0) = sign(NaN) = 0.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/l1_loss.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/loss-inl.h"
#include "core/backends/cpu/reduced_output.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

void L1Loss(const KernelArgs& args) { RunLoss(args, AbsoluteDifference()); }

void L1LossBackward(const KernelArgs& args) {
  Map<3>(args, SignTimesGradient{GradientFactor(args.call, ReductionOf(args.call, 0))});
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

HWY_EXPORT(L1Loss);
HWY_EXPORT(L1LossBackward);

namespace {

absl::Status ExecuteL1Loss(const KernelArgs& args) {
  HWY_DYNAMIC_DISPATCH(L1Loss)(args);
  return absl::OkStatus();
}

absl::Status ExecuteL1LossBackward(const KernelArgs& args) {
  HWY_DYNAMIC_DISPATCH(L1LossBackward)(args);
  return absl::OkStatus();
}

size_t L1LossWorkspace(const OpCall& call) {
  return ReductionWorkspaceBytes(call, ReductionOf(call, 0));
}
size_t NoWorkspace(const OpCall& /*call*/) { return 0; }

}  // namespace

extern constinit const Kernel kL1LossKernel = {L1LossWorkspace, ExecuteL1Loss};
extern constinit const Kernel kL1LossBackwardKernel = {NoWorkspace, ExecuteL1LossBackward};

}  // namespace opserve::cpu
#endif
