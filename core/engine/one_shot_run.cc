#include "core/engine/one_shot_run.h"

#include <utility>

#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/engine/staging.h"

namespace opserve {
namespace {

// Of storages: what the widest dtype needs.
constexpr size_t kAlignment = alignof(double);

absl::Status CheckTimely(OneShot& shot, absl::Time now) {
  if (shot.cancelled && shot.cancelled()) return MakeError({.reason = ErrorReason::kCancelled});
  if (now > shot.deadline) return MakeError({.reason = ErrorReason::kDeadlineExceeded});
  return absl::OkStatus();
}

absl::Status CheckInputStorages(const Plan& plan, std::span<const Fragments> storages) {
  const OpCall& call = plan.call;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.inputs[i].has_value()) continue;
    const std::string_view name = call.op->inputs[i].name;
    const int storage = plan.storages[i];
    if (storage < 0 || static_cast<size_t>(storage) >= storages.size())
      return MissingParameter(name, "its bytes");
    const auto bytes = static_cast<int64_t>(storages[static_cast<size_t>(storage)].size_bytes());
    OPSERVE_RETURN_IF_ERROR(CheckStorage(*call.inputs[i], bytes, name));
  }
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (call.outputs[i].origin == OutputSlot::Origin::kGiven)
      return InvalidParameter(call.op->outputs[i].name, "an output that the call makes",
                              "one in memory of the caller's");
  }
  return absl::OkStatus();
}

using StagedOutputs = absl::InlinedVector<StagedOutput, 3>;

absl::StatusOr<StagedOutputs> LeaseOutputs(const Plan& plan) {
  StagedOutputs outputs;
  for (const OutputSlot& slot : plan.call.outputs) {
    const size_t bytes = slot.wanted ? static_cast<size_t>(slot.desc.size_bytes()) : 0;
    OPSERVE_ASSIGN_OR_RETURN(StagedOutput output, StagedOutput::Lease(*plan.device, bytes));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

absl::StatusOr<Outputs> Fetch(const Plan& plan, StagedOutputs written) {
  Outputs outputs;
  outputs.reserve(written.size());
  for (size_t i = 0; i < written.size(); ++i) {
    OPSERVE_ASSIGN_OR_RETURN(PooledBuffer bytes, std::move(written[i]).Fetch());
    outputs.push_back({plan.call.op->outputs[i].name, plan.call.outputs[i].desc, std::move(bytes)});
  }
  return outputs;
}

absl::StatusOr<Outputs> Execute(OneShot& shot, const Clock& clock) {
  const Plan& plan = *shot.plan;
  OPSERVE_ASSIGN_OR_RETURN(StagedOutputs outputs, LeaseOutputs(plan));
  OPSERVE_ASSIGN_OR_RETURN(const PooledBuffer workspace,
                           plan.device->memory().Acquire(plan.workspace_bytes));
  StagedInputs storages(*plan.device);
  for (const Fragments& storage : shot.storages)
    OPSERVE_RETURN_IF_ERROR(storages.Add(storage, kAlignment));

  absl::InlinedVector<const std::byte*, 4> input_starts;
  for (size_t i = 0; i < plan.storages.size(); ++i) {
    const bool given = plan.call.inputs[i].has_value();
    input_starts.push_back(given ? storages.start(static_cast<size_t>(plan.storages[i])) : nullptr);
  }
  absl::InlinedVector<std::byte*, 4> output_starts;
  for (size_t i = 0; i < outputs.size(); ++i)
    output_starts.push_back(plan.call.outputs[i].wanted ? outputs[i].start() : nullptr);
  const auto stop = [&] { return !CheckTimely(shot, clock.Now()).ok(); };
  const Workers workers(plan.device->workers(), stop);
  OPSERVE_RETURN_IF_ERROR(
      plan.device->Execute(*plan.kernel, {.call = plan.call,
                                          .inputs = input_starts,
                                          .outputs = output_starts,
                                          .workspace = {workspace.data(), workspace.size()},
                                          .workers = workers}));
  if (workers.stopped()) return CheckTimely(shot, clock.Now());
  return Fetch(plan, std::move(outputs));
}

absl::StatusOr<Outputs> CheckAndExecute(OneShot& shot, absl::Time now, const Clock& clock) {
  OPSERVE_RETURN_IF_ERROR(CheckTimely(shot, now));
  OPSERVE_RETURN_IF_ERROR(CheckInputStorages(*shot.plan, shot.storages));
  return Execute(shot, clock);
}

}  // namespace

absl::Status CheckStorages(const Plan& plan, std::span<const Fragments> storages) {
  return WithOperator(CheckInputStorages(plan, storages), plan.call.op->name);
}

absl::StatusOr<Outputs> RunOneShot(OneShot& shot, absl::Time now, const Clock& clock) {
  absl::StatusOr<Outputs> outputs = CheckAndExecute(shot, now, clock);
  if (outputs.ok()) return outputs;
  return WithOperator(outputs.status(), shot.plan->call.op->name);
}

}  // namespace opserve
