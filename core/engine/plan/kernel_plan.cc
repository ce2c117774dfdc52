#include "core/engine/plan/kernel_plan.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "core/base/alignment.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/engine/plan/program_plan.h"

namespace opserve {
namespace {

absl::Status PlanOneKernel(Plan& plan) {
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

}  // namespace

absl::Status PlanKernel(Plan& plan, std::shared_ptr<const Operator> made) {
  const Program* const program = AsProgram(*plan.call.op);
  if (program == nullptr) return PlanOneKernel(plan);
  OPSERVE_ASSIGN_OR_RETURN(
      plan.program, ProgramPlan::Make(std::shared_ptr<const Program>(std::move(made), program),
                                      plan.call, *plan.device));
  plan.workspace_bytes = plan.program->workspace_bytes();
  plan.control_bytes = plan.program->control_bytes();
  plan.cost = plan.program->cost();
  return absl::OkStatus();
}

// Kernels' plans may say more bytes than there are, but never more than int64 holds.
size_t ControlOffset(const Plan& plan) { return RoundUpToAlignment(plan.workspace_bytes); }

size_t ScratchBytes(const Plan& plan) {
  constexpr auto kMost = static_cast<size_t>(std::numeric_limits<int64_t>::max());
  return std::min(kMost, ControlOffset(plan) + plan.control_bytes);
}

}  // namespace opserve
