#include "core/engine/run/kernel_run.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "core/base/alignment.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve {
namespace {

// Where the control memory begins. Kernels' plans may say more bytes than there are, but never more
// than int64 holds.
size_t ControlOffset(const Plan& plan) { return RoundUpToAlignment(plan.workspace_bytes); }

}  // namespace

absl::Status PlanKernel(Plan& plan) {
  const Operator& op = *plan.call.op;
  plan.kernel = plan.device->FindKernel(op);
  if (plan.kernel == nullptr) {
    return MakeError({.reason = ErrorReason::kOperatorUnsupported,
                      .op = std::string(op.name),
                      .parameter = "device",
                      .want = "a device that has the operator",
                      .got = plan.device->info().name});
  }
  if (plan.call.makes_nothing()) {
    plan.kernel = nullptr;
    plan.cost = EstimateCost(plan.call, 0);
    return absl::OkStatus();
  }
  plan.workspace_bytes = plan.kernel->workspace_bytes(plan.call);
  plan.control_bytes = ControlBytes(*plan.kernel, plan.call);
  plan.cost = EstimateCost(plan.call, ScratchBytes(plan));
  return absl::OkStatus();
}

size_t ScratchBytes(const Plan& plan) {
  constexpr auto kMost = static_cast<size_t>(std::numeric_limits<int64_t>::max());
  return std::min(kMost, ControlOffset(plan) + plan.control_bytes);
}

absl::Status KernelRun::LeaseScratch(ClientId client) {
  OPSERVE_ASSIGN_OR_RETURN(scratch_,
                           plan_.device->memory().Acquire(ScratchBytes(plan_), {.client = client}));
  SetScratch(scratch_.data());
  return absl::OkStatus();
}

void KernelRun::SetScratch(std::byte* start) { SetScratch(start, start + ControlOffset(plan_)); }

void KernelRun::SetScratch(std::byte* workspace, std::byte* control) {
  workspace_ = {workspace, plan_.workspace_bytes};
  control_ = {control, plan_.control_bytes};
}

absl::Status KernelRun::Run(const Workers& workers, ElementRange range,
                            std::span<const bool> windowed) const {
  if (plan_.kernel == nullptr) return absl::OkStatus();
  return plan_.device->Execute(*plan_.kernel, {.call = plan_.call,
                                               .inputs = inputs_,
                                               .outputs = outputs_,
                                               .workspace = workspace_,
                                               .control = control_,
                                               .workers = workers,
                                               .range = range,
                                               .windowed = windowed});
}

}  // namespace opserve
