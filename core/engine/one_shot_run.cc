#include "core/engine/one_shot_run.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/engine/kernel_run.h"
#include "core/engine/staging.h"
#include "core/tensor/overlap.h"

namespace opserve {
namespace {

// Whether the output is written to memory of the caller's.
bool IsInPlace(const Plan& plan, size_t output) {
  return plan.call.outputs[output].wanted && plan.output_storages[output] >= 0;
}

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

using OutputStorages = std::span<const std::span<std::byte>>;

// `desc` is of a tensor whose storage is one of `pieces`. Only what is one piece can be shared.
bool ShareBytes(const TensorDesc& output, std::span<const std::byte> memory, const TensorDesc& desc,
                std::span<const std::span<const std::byte>> pieces) {
  if (pieces.size() != 1) return false;
  const auto start = [](const std::byte* data) { return reinterpret_cast<intptr_t>(data); };
  return MayOverlap({output, start(memory.data())}, {desc, start(pieces[0].data())});
}

absl::Status CheckApart(const Plan& plan, std::span<const Fragments> storages,
                        OutputStorages outputs, size_t output) {
  const OpCall& call = plan.call;
  const std::span<const std::byte> memory =
      outputs[static_cast<size_t>(plan.output_storages[output])];
  const auto overlaps = [&](std::string_view other) {
    return InvalidParameter(call.op->outputs[output].name,
                            std::string("memory apart from that of ").append(other),
                            "memory that overlaps it");
  };
  const TensorDesc& desc = call.outputs[output].desc;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.inputs[i].has_value()) continue;
    const Fragments& storage = storages[static_cast<size_t>(plan.storages[i])];
    if (ShareBytes(desc, memory, *call.inputs[i], storage.pieces()))
      return overlaps(call.op->inputs[i].name);
  }
  for (size_t i = 0; i < output; ++i) {
    if (!IsInPlace(plan, i)) continue;
    const std::span<const std::byte> other = outputs[static_cast<size_t>(plan.output_storages[i])];
    if (ShareBytes(desc, memory, call.outputs[i].desc, {&other, 1}))
      return overlaps(call.op->outputs[i].name);
  }
  return absl::OkStatus();
}

// For a plan whose inputs CheckInputStorages accepted.
absl::Status CheckOutputStorages(const Plan& plan, std::span<const Fragments> storages,
                                 OutputStorages outputs) {
  for (size_t i = 0; i < plan.call.outputs.size(); ++i) {
    if (!IsInPlace(plan, i)) continue;
    const std::string_view name = plan.call.op->outputs[i].name;
    const auto index = static_cast<size_t>(plan.output_storages[i]);
    if (index >= outputs.size()) return MissingParameter(name, "its memory");
    const TensorDesc& desc = plan.call.outputs[i].desc;
    OPSERVE_RETURN_IF_ERROR(CheckStorage(desc, static_cast<int64_t>(outputs[index].size()), name));
    const size_t alignment = DTypeSize(desc.dtype);
    const size_t beyond = reinterpret_cast<uintptr_t>(outputs[index].data()) % alignment;
    if (beyond != 0 && !outputs[index].empty()) {
      return InvalidParameter(name, absl::StrCat("memory aligned to ", alignment, " bytes"),
                              absl::StrCat("memory ", beyond, " bytes beyond that"));
    }
    OPSERVE_RETURN_IF_ERROR(CheckApart(plan, storages, outputs, i));
  }
  return absl::OkStatus();
}

absl::Status CheckAllStorages(const Plan& plan, std::span<const Fragments> storages,
                              OutputStorages outputs) {
  OPSERVE_RETURN_IF_ERROR(CheckInputStorages(plan, storages));
  return CheckOutputStorages(plan, storages, outputs);
}

using StagedOutputs = absl::InlinedVector<StagedOutput, 3>;

absl::StatusOr<StagedOutputs> LeaseOutputs(const OneShot& shot) {
  const Plan& plan = *shot.plan;
  StagedOutputs outputs;
  for (size_t i = 0; i < plan.call.outputs.size(); ++i) {
    const OutputSlot& slot = plan.call.outputs[i];
    const size_t bytes = slot.wanted ? static_cast<size_t>(slot.desc.size_bytes()) : 0;
    OPSERVE_ASSIGN_OR_RETURN(
        StagedOutput output,
        IsInPlace(plan, i)
            ? StagedOutput::InPlace(
                  *plan.device, shot.output_storages[static_cast<size_t>(plan.output_storages[i])],
                  shot.client)
            : StagedOutput::Lease(*plan.device, bytes, shot.client));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

// Brings the inputs' storages to where the kernel can use them.
absl::Status AddStorages(const OneShot& shot, StagedInputs& staged) {
  const Plan& plan = *shot.plan;
  for (size_t storage = 0; storage < shot.storages.size(); ++storage) {
    size_t alignment = 1;
    for (size_t i = 0; i < plan.storages.size(); ++i) {
      if (plan.storages[i] == static_cast<int>(storage))
        alignment = std::max(alignment, DTypeSize(plan.call.inputs[i]->dtype));
    }
    OPSERVE_RETURN_IF_ERROR(staged.Add(shot.storages[storage], alignment));
  }
  return absl::OkStatus();
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
  OPSERVE_ASSIGN_OR_RETURN(StagedOutputs outputs, LeaseOutputs(shot));
  if (plan.kernel == nullptr) return Fetch(plan, std::move(outputs));
  OPSERVE_ASSIGN_OR_RETURN(
      const PooledBuffer memory,
      plan.device->memory().Acquire(ScratchBytes(plan), {.client = shot.client}));
  const Scratch scratch = ScratchAt(plan, memory.data());
  StagedInputs storages(*plan.device, shot.client);
  OPSERVE_RETURN_IF_ERROR(AddStorages(shot, storages));

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
  OPSERVE_RETURN_IF_ERROR(RunKernel(plan, {.call = plan.call,
                                           .inputs = input_starts,
                                           .outputs = output_starts,
                                           .workspace = scratch.workspace,
                                           .control = scratch.control,
                                           .workers = workers}));
  if (!workers.stopped()) return Fetch(plan, std::move(outputs));
  OPSERVE_RETURN_IF_ERROR(CheckTimely(shot, clock.Now()));
  // It was not in time when it was stopped; somebody has set the clock back.
  return MakeError({.reason = ErrorReason::kDeadlineExceeded});
}

absl::StatusOr<Outputs> CheckAndExecute(OneShot& shot, absl::Time now, const Clock& clock) {
  OPSERVE_RETURN_IF_ERROR(CheckTimely(shot, now));
  OPSERVE_RETURN_IF_ERROR(CheckAllStorages(*shot.plan, shot.storages, shot.output_storages));
  return Execute(shot, clock);
}

}  // namespace

absl::Status CheckStorages(const Plan& plan, std::span<const Fragments> storages,
                           std::span<const std::span<std::byte>> output_storages) {
  return WithOperator(CheckAllStorages(plan, storages, output_storages), plan.call.op->name);
}

absl::StatusOr<Outputs> RunOneShot(OneShot& shot, absl::Time now, const Clock& clock) {
  absl::StatusOr<Outputs> outputs = CheckAndExecute(shot, now, clock);
  if (outputs.ok()) return outputs;
  return WithOperator(outputs.status(), shot.plan->call.op->name);
}

}  // namespace opserve
