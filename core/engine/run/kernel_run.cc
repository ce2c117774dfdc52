#include "core/engine/run/kernel_run.h"

#include "core/base/status_macros.h"
#include "core/engine/run/program_run.h"

namespace opserve {

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
  if (plan_.makes_nothing() || workers.stopped()) return absl::OkStatus();
  const KernelArgs args{.call = plan_.call,
                        .inputs = inputs_,
                        .outputs = outputs_,
                        .workspace = workspace_,
                        .control = control_,
                        .workers = workers,
                        .range = range,
                        .windowed = windowed};
  if (plan_.program != nullptr) return RunProgram(*plan_.program, *plan_.device, args);
  return plan_.device->Execute(*plan_.kernel, args);
}

}  // namespace opserve
