#include "core/engine/one_shot_run.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve {
namespace {

// Pieces of this size are copied side by side; below it one copy is quicker.
constexpr size_t kGatherChunkBytes = 256 << 10;

absl::Status CheckTimely(OneShot& shot, const Clock& clock) {
  if (shot.cancelled && shot.cancelled()) return MakeError({.reason = ErrorReason::kCancelled});
  if (clock.Now() > shot.deadline) return MakeError({.reason = ErrorReason::kDeadlineExceeded});
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
  return absl::OkStatus();
}

// An empty tensor has no bytes, but kernels may still form its address.
alignas(64) std::byte nothing[64];

// Storages as kernels want them: each in one piece and aligned. Those that are so already are used
// where they lie.
class GatheredStorages {
 public:
  absl::Status Gather(const std::vector<Fragments>& storages, Device& device) {
    for (const Fragments& storage : storages) {
      PooledBuffer buffer;
      const std::byte* start = storage.pieces().empty() ? nothing : storage.pieces()[0].data();
      if (storage.pieces().size() > 1 ||
          reinterpret_cast<uintptr_t>(start) % alignof(double) != 0) {
        OPSERVE_ASSIGN_OR_RETURN(buffer, device.memory().Acquire(storage.size_bytes()));
        Copy(storage, buffer.data(), device.workers());
        start = buffer.data();
      }
      starts_.push_back(start);
      buffers_.push_back(std::move(buffer));
    }
    return absl::OkStatus();
  }

  const std::byte* start(size_t storage) const { return starts_[storage]; }

 private:
  static void Copy(const Fragments& from, std::byte* to, WorkerPool& workers) {
    const size_t size = from.size_bytes();
    const auto chunks = static_cast<int64_t>((size + kGatherChunkBytes - 1) / kGatherChunkBytes);
    workers.ParallelFor(chunks, [&](int64_t chunk) {
      const size_t offset = static_cast<size_t>(chunk) * kGatherChunkBytes;
      from.CopyTo(to + offset, offset, std::min(kGatherChunkBytes, size - offset));
    });
  }

  absl::InlinedVector<PooledBuffer, 4> buffers_;
  absl::InlinedVector<const std::byte*, 4> starts_;
};

absl::StatusOr<Outputs> LeaseOutputs(const Plan& plan) {
  Outputs outputs;
  outputs.reserve(plan.call.outputs.size());
  for (size_t i = 0; i < plan.call.outputs.size(); ++i) {
    const OutputSlot& slot = plan.call.outputs[i];
    const size_t bytes = slot.wanted ? static_cast<size_t>(slot.desc.size_bytes()) : 0;
    OPSERVE_ASSIGN_OR_RETURN(PooledBuffer buffer, plan.device->memory().Acquire(bytes));
    outputs.push_back({plan.call.op->outputs[i].name, slot.desc, std::move(buffer)});
  }
  return outputs;
}

absl::StatusOr<Outputs> Execute(const OneShot& shot) {
  const Plan& plan = shot.plan;
  OPSERVE_ASSIGN_OR_RETURN(Outputs outputs, LeaseOutputs(plan));
  OPSERVE_ASSIGN_OR_RETURN(const PooledBuffer workspace,
                           plan.device->memory().Acquire(plan.workspace_bytes));
  GatheredStorages storages;
  OPSERVE_RETURN_IF_ERROR(storages.Gather(shot.storages, *plan.device));

  absl::InlinedVector<const std::byte*, 4> input_starts;
  for (size_t i = 0; i < plan.storages.size(); ++i) {
    const bool given = plan.call.inputs[i].has_value();
    input_starts.push_back(given ? storages.start(static_cast<size_t>(plan.storages[i])) : nullptr);
  }
  absl::InlinedVector<std::byte*, 4> output_starts;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::byte* start = outputs[i].bytes.data() == nullptr ? nothing : outputs[i].bytes.data();
    output_starts.push_back(plan.call.outputs[i].wanted ? start : nullptr);
  }
  OPSERVE_RETURN_IF_ERROR(plan.kernel->execute({.call = plan.call,
                                                .inputs = input_starts,
                                                .outputs = output_starts,
                                                .workspace = {workspace.data(), workspace.size()},
                                                .workers = plan.device->workers()}));
  return outputs;
}

absl::StatusOr<Outputs> CheckAndExecute(OneShot& shot, const Clock& clock) {
  OPSERVE_RETURN_IF_ERROR(CheckTimely(shot, clock));
  OPSERVE_RETURN_IF_ERROR(CheckInputStorages(shot.plan, shot.storages));
  return Execute(shot);
}

}  // namespace

absl::Status CheckStorages(const Plan& plan, std::span<const Fragments> storages) {
  return WithOperator(CheckInputStorages(plan, storages), plan.call.op->name);
}

void RunOneShot(OneShot shot, const Clock& clock) {
  absl::StatusOr<Outputs> outputs = CheckAndExecute(shot, clock);
  if (!outputs.ok()) outputs = WithOperator(outputs.status(), shot.plan.call.op->name);
  shot.done(std::move(outputs));
}

}  // namespace opserve
