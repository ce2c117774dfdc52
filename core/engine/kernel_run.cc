#include "core/engine/kernel_run.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "core/base/op_error.h"

namespace opserve {
namespace {

constexpr size_t kAlignment = 64;

// Where the control memory begins. Kernels' plans may say more bytes than there are, but never more
// than int64 holds.
size_t ControlOffset(const Plan& plan) {
  return (plan.workspace_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

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

absl::Status RunKernel(const Plan& plan, const KernelArgs& args) {
  return plan.kernel == nullptr ? absl::OkStatus() : plan.device->Execute(*plan.kernel, args);
}

size_t ScratchBytes(const Plan& plan) {
  constexpr auto kMost = static_cast<size_t>(std::numeric_limits<int64_t>::max());
  return std::min(kMost, ControlOffset(plan) + plan.control_bytes);
}

Scratch ScratchAt(const Plan& plan, std::byte* start) {
  return {.workspace = {start, plan.workspace_bytes},
          .control = {start + ControlOffset(plan), plan.control_bytes}};
}

}  // namespace opserve
