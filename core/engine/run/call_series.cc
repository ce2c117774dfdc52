#include "core/engine/run/call_series.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/alignment.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/engine/run/kernel_run.h"
#include "core/engine/run/staging.h"
#include "core/engine/run/timely.h"

namespace opserve {
namespace {

// The calls of a series on their device, one after the other.
class SeriesRun {
 public:
  // Both must outlive this.
  SeriesRun(const CallSeries& series, const SeriesOutputs& outputs)
      : series_(series),
        plan_(*series.plan),
        outputs_(outputs),
        workers_(plan_.device->workers()),
        run_(plan_) {}

  // Before the first.
  absl::Status LeaseScratch() {
    return WithOperator(run_.LeaseScratch(series_.client), plan_.call.op->name);
  }

  absl::Status Run(size_t index) {
    const std::span<const uint32_t> storages = series_.calls[index].storages;
    if (!AreRightWhereTheyLie(storages)) return RunStaged(index, storages);
    run_.SetInputs([&](size_t i) {
      return Storage(storages, static_cast<size_t>(plan_.storages[i])).pieces()[0].data();
    });
    return Execute(index);
  }

 private:
  const Fragments& Storage(std::span<const uint32_t> storages, size_t i) const {
    return series_.storages[storages[i]];
  }

  // Whether they are as large as those of a call that was found right, and none must be staged.
  bool AreRightWhereTheyLie(std::span<const uint32_t> storages) const {
    if (right_.empty() || storages.size() != right_.size()) return false;
    for (size_t i = 0; i < storages.size(); ++i) {
      const Fragments& bytes = Storage(storages, i);
      if (bytes.size_bytes() != right_[i].bytes || !bytes.LiesAligned(right_[i].alignment))
        return false;
    }
    return true;
  }

  absl::Status RunStaged(size_t index, std::span<const uint32_t> storages) {
    std::vector<Fragments> own;
    own.reserve(storages.size());
    for (size_t i = 0; i < storages.size(); ++i) own.push_back(Storage(storages, i));
    OPSERVE_RETURN_IF_ERROR(CheckStorages(plan_, own));
    right_.clear();
    StagedInputs staged(*plan_.device, workers_, series_.client);
    for (size_t i = 0; i < own.size(); ++i) {
      right_.push_back({own[i].size_bytes(), StorageAlignment(plan_, i)});
      OPSERVE_RETURN_IF_ERROR(
          WithOperator(staged.Add(own[i], right_[i].alignment), plan_.call.op->name));
    }
    run_.SetInputs([&](size_t i) { return staged.start(static_cast<size_t>(plan_.storages[i])); });
    return Execute(index);
  }

  absl::Status Execute(size_t index) {
    run_.SetOutputs([&](size_t i) { return outputs_.at(index, i).data(); });
    absl::Status status = run_.Run(workers_);
    return status.ok() ? status : WithOperator(status, plan_.call.op->name);
  }

  struct Right {
    size_t bytes;
    size_t alignment;
  };
  const CallSeries& series_;
  const Plan& plan_;
  const SeriesOutputs& outputs_;
  const Workers workers_;
  KernelRun run_;
  absl::InlinedVector<Right, 4> right_;  // of each storage of a call
};

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
    outputs.call_bytes_ += RoundUpToAlignment(bytes);
  }
  absl::StatusOr<PooledBuffer> memory =
      plan.device->memory().Acquire(calls * outputs.call_bytes_, {.client = client});
  if (!memory.ok()) return WithOperator(memory.status(), plan.call.op->name);
  outputs.memory_ = *std::move(memory);
  return outputs;
}

absl::StatusOr<SeriesOutputs> RunSeries(CallSeries series, EngineCounters& counters) {
  const Plan& plan = *series.plan;
  const Operator& op = *plan.call.op;
  OPSERVE_ASSIGN_OR_RETURN(SeriesOutputs outputs,
                           SeriesOutputs::Lease(plan, series.calls.size(), series.client));
  SeriesRun run(series, outputs);
  OPSERVE_RETURN_IF_ERROR(run.LeaseScratch());
  const auto count = static_cast<int64_t>(series.calls.size());
  EngineCounters::OfOperator& counts = counters.Of(op);
  EngineCounters::Add(counts.inline_calls, count);
  const absl::Time start = counters.clock.Now();
  const absl::Status timely = WithOperator(CheckTimely(series, start), op.name);
  int64_t succeeded = 0;
  for (size_t i = 0; i < series.calls.size(); ++i) {
    absl::Status& status = series.calls[i].status;
    status = timely.ok() ? run.Run(i) : timely;
    if (status.ok()) {
      ++succeeded;
    } else {
      counters.CountFailure(op, status.code());
    }
  }
  EngineCounters::Add(counts.input_bytes, StorageBytes(series));
  EngineCounters::Add(counts.output_bytes, succeeded * plan.call.output_bytes());
  const absl::Duration executed = counters.clock.Now() - start;
  EngineCounters::Add(counts.execution_ns, executed);
  outputs.times.executed = executed / std::max<int64_t>(1, count);
  counters.CountSuccesses(op, succeeded);
  counters.CountExecutions(op, outputs.times.executed, count);
  return outputs;
}

}  // namespace opserve
