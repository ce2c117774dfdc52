// Engine::RunSeries.
#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/engine/engine.h"
#include "core/engine/kernel_run.h"
#include "core/engine/staging.h"

namespace opserve {
namespace {

constexpr size_t kOutputAlignment = 64;

size_t Aligned(size_t bytes) {
  return (bytes + kOutputAlignment - 1) / kOutputAlignment * kOutputAlignment;
}

// The calls of a series on their device, one after the other.
class SeriesRun {
 public:
  // All must outlive this.
  SeriesRun(const CallSeries& series, const SeriesOutputs& outputs, const PooledBuffer& scratch)
      : series_(series),
        plan_(*series.plan),
        outputs_(outputs),
        scratch_(ScratchAt(plan_, scratch.data())),
        workers_(plan_.device->workers()),
        input_starts_(plan_.storages.size()),
        output_starts_(plan_.call.outputs.size()) {
    for (size_t i = 0; i < plan_.storages.size(); ++i) {
      if (plan_.storages[i] < 0) continue;
      const auto storage = static_cast<size_t>(plan_.storages[i]);
      if (storage >= alignments_.size()) alignments_.resize(storage + 1, 1);
      alignments_[storage] = std::max(alignments_[storage], DTypeSize(plan_.call.inputs[i]->dtype));
    }
  }

  absl::Status Run(size_t index) {
    const std::span<const uint32_t> storages = series_.calls[index].storages;
    if (IsLikeTheLast(storages) && StartWhereTheyLie(storages)) return Execute(index);
    return RunStaged(index, storages);
  }

 private:
  const Fragments& Storage(std::span<const uint32_t> storages, size_t i) const {
    return series_.storages[storages[i]];
  }

  // Whether they are as large as those of a call that was found right.
  bool IsLikeTheLast(std::span<const uint32_t> storages) const {
    if (storages.size() != right_sizes_.size()) return false;
    for (size_t i = 0; i < storages.size(); ++i)
      if (Storage(storages, i).size_bytes() != right_sizes_[i]) return false;
    return true;
  }

  // False when a storage must be staged.
  bool StartWhereTheyLie(std::span<const uint32_t> storages) {
    for (size_t i = 0; i < plan_.storages.size(); ++i) {
      if (plan_.storages[i] < 0) continue;
      const auto storage = static_cast<size_t>(plan_.storages[i]);
      const Fragments& bytes = Storage(storages, storage);
      if (!bytes.IsInPlace(alignments_[storage])) return false;
      input_starts_[i] = bytes.pieces()[0].data();
    }
    return true;
  }

  absl::Status RunStaged(size_t index, std::span<const uint32_t> storages) {
    std::vector<Fragments> own;
    own.reserve(storages.size());
    for (size_t i = 0; i < storages.size(); ++i) own.push_back(Storage(storages, i));
    OPSERVE_RETURN_IF_ERROR(CheckStorages(plan_, own));
    right_sizes_.clear();
    for (const Fragments& bytes : own) right_sizes_.push_back(bytes.size_bytes());
    StagedInputs staged(*plan_.device);
    for (size_t i = 0; i < own.size(); ++i) {
      const size_t alignment = i < alignments_.size() ? alignments_[i] : 1;
      OPSERVE_RETURN_IF_ERROR(WithOperator(staged.Add(own[i], alignment), plan_.call.op->name));
    }
    for (size_t i = 0; i < plan_.storages.size(); ++i) {
      if (plan_.storages[i] >= 0)
        input_starts_[i] = staged.start(static_cast<size_t>(plan_.storages[i]));
    }
    return Execute(index);
  }

  absl::Status Execute(size_t index) {
    for (size_t i = 0; i < output_starts_.size(); ++i) {
      std::byte* nothing = plan_.call.outputs[i].wanted ? AddressOfNothing() : nullptr;
      const std::span<std::byte> output = outputs_.at(index, i);
      output_starts_[i] = output.empty() ? nothing : output.data();
    }
    absl::Status status = RunKernel(plan_, {.call = plan_.call,
                                            .inputs = input_starts_,
                                            .outputs = output_starts_,
                                            .workspace = scratch_.workspace,
                                            .control = scratch_.control,
                                            .workers = workers_});
    return status.ok() ? status : WithOperator(status, plan_.call.op->name);
  }

  const CallSeries& series_;
  const Plan& plan_;
  const SeriesOutputs& outputs_;
  const Scratch scratch_;
  const Workers workers_;
  absl::InlinedVector<size_t, 4> alignments_;   // of the plan's storages
  absl::InlinedVector<size_t, 4> right_sizes_;  // likewise
  absl::InlinedVector<const std::byte*, 4> input_starts_;
  absl::InlinedVector<std::byte*, 4> output_starts_;
};

absl::Status CheckTimely(CallSeries& series, absl::Time now) {
  ErrorReason reason = ErrorReason::kCancelled;
  if (!series.cancelled || !series.cancelled()) {
    if (now <= series.deadline) return absl::OkStatus();
    reason = ErrorReason::kDeadlineExceeded;
  }
  return WithOperator(MakeError({.reason = reason}), series.plan->call.op->name);
}

int64_t StorageBytes(const CallSeries& series) {
  int64_t bytes = 0;
  for (const CallSeries::Call& call : series.calls) {
    for (const uint32_t storage : call.storages)
      bytes += static_cast<int64_t>(series.storages[storage].size_bytes());
  }
  return bytes;
}

}  // namespace

absl::StatusOr<SeriesOutputs> SeriesOutputs::Lease(const Plan& plan, size_t calls,
                                                   ClientId client) {
  SeriesOutputs outputs;
  for (const OutputSlot& slot : plan.call.outputs) {
    const size_t bytes = slot.wanted ? static_cast<size_t>(slot.desc.size_bytes()) : 0;
    outputs.places_.push_back({outputs.call_bytes_, bytes});
    outputs.call_bytes_ += Aligned(bytes);
  }
  absl::StatusOr<PooledBuffer> memory =
      plan.device->memory().Acquire(calls * outputs.call_bytes_, {.client = client});
  if (!memory.ok()) return WithOperator(memory.status(), plan.call.op->name);
  outputs.memory_ = *std::move(memory);
  return outputs;
}

absl::StatusOr<SeriesOutputs> Engine::RunSeries(CallSeries series) {
  const Plan& plan = *series.plan;
  OPSERVE_ASSIGN_OR_RETURN(SeriesOutputs outputs,
                           SeriesOutputs::Lease(plan, series.calls.size(), series.client));
  const absl::StatusOr<PooledBuffer> scratch =
      plan.device->memory().Acquire(ScratchBytes(plan), {.client = series.client});
  if (!scratch.ok()) return WithOperator(scratch.status(), plan.call.op->name);
  const absl::Time start = clock_.Now();
  const absl::Status timely = CheckTimely(series, start);
  SeriesRun run(series, outputs, *scratch);
  int64_t succeeded = 0;
  for (size_t i = 0; i < series.calls.size(); ++i) {
    absl::Status& status = series.calls[i].status;
    status = timely.ok() ? run.Run(i) : timely;
    if (status.ok()) {
      ++succeeded;
    } else {
      counters_.CountFailure(status.code());
    }
  }
  EngineCounters::Add(counters_.inline_calls, static_cast<int64_t>(series.calls.size()));
  EngineCounters::Add(counters_.input_bytes, StorageBytes(series));
  EngineCounters::Add(counters_.output_bytes, succeeded * plan.call.output_bytes());
  EngineCounters::Add(counters_.execution_ns, absl::ToInt64Nanoseconds(clock_.Now() - start));
  return outputs;
}

}  // namespace opserve
