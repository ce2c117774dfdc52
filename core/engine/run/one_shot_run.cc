#include "core/engine/run/one_shot_run.h"

#include <memory>
#include <utility>

#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/engine/run/kernel_run.h"
#include "core/engine/run/staging.h"
#include "core/engine/run/timely.h"

namespace opserve {
namespace {

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
  for (size_t i = 0; i < shot.storages.size(); ++i)
    OPSERVE_RETURN_IF_ERROR(staged.Add(shot.storages[i], StorageAlignment(plan, i)));
  return absl::OkStatus();
}

absl::Status Compute(const OneShot& shot, const Workers& workers, StagedOutputs& written) {
  const Plan& plan = *shot.plan;
  KernelRun run(plan);
  OPSERVE_RETURN_IF_ERROR(run.LeaseScratch(shot.client));
  StagedInputs storages(*plan.device, workers, shot.client);
  OPSERVE_RETURN_IF_ERROR(AddStorages(shot, storages));
  run.SetInputs([&](size_t i) { return storages.start(static_cast<size_t>(plan.storages[i])); });
  run.SetOutputs([&](size_t i) { return written[i].start(); });
  return run.Run(workers);
}

absl::Status Fetch(const Plan& plan, const Workers& workers, StagedOutputs written,
                   Outputs& outputs) {
  outputs.reserve(written.size());
  for (size_t i = 0; i < written.size(); ++i) {
    OPSERVE_ASSIGN_OR_RETURN(PooledBuffer bytes, std::move(written[i]).Fetch(workers));
    outputs.push_back({plan.call.op->outputs[i].name, plan.call.outputs[i].desc, std::move(bytes)});
  }
  return absl::OkStatus();
}

absl::StatusOr<Outputs> Execute(OneShot& shot, const Clock& clock) {
  const Plan& plan = *shot.plan;
  Outputs outputs;
  const auto goes_on = [&] { return CheckTimely(shot, clock.Now()); };
  const auto work = [&](const Workers& workers) -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(StagedOutputs written, LeaseOutputs(shot));
    if (!plan.makes_nothing()) OPSERVE_RETURN_IF_ERROR(Compute(shot, workers, written));
    if (workers.stopped()) return absl::OkStatus();
    return Fetch(plan, workers, std::move(written), outputs);
  };
  OPSERVE_RETURN_IF_ERROR(RunWhile(*plan.device, goes_on, work));
  return outputs;
}

absl::StatusOr<Outputs> CheckAndExecute(OneShot& shot, absl::Time now, const Clock& clock) {
  OPSERVE_RETURN_IF_ERROR(CheckTimely(shot, now));
  OPSERVE_RETURN_IF_ERROR(CheckStorages(*shot.plan, shot.storages, shot.output_storages));
  return Execute(shot, clock);
}

// A call between Submit and its end.
class QueuedCall final : public WorkerPool::Task {
 public:
  QueuedCall(OneShot shot, Admission::Place place, EngineCounters& counters)
      : shot_(std::move(shot)), place_(std::move(place)), counters_(counters) {}

  void Run() override {
    const absl::Time now = counters_.clock.Now();
    EndWait(shot_, place_, now, counters_);
    RunOneShot(shot_, now, std::move(place_), counters_);
  }

 private:
  OneShot shot_;
  Admission::Place place_;
  EngineCounters& counters_;
};

}  // namespace

absl::StatusOr<Outputs> ExecuteOneShot(OneShot& shot, absl::Time now, const Clock& clock) {
  absl::StatusOr<Outputs> outputs = CheckAndExecute(shot, now, clock);
  if (outputs.ok()) return outputs;
  return WithOperator(outputs.status(), shot.plan->call.op->name);
}

void RunOneShot(OneShot& shot, absl::Time start, Admission::Place place, EngineCounters& counters) {
  absl::StatusOr<Outputs> outputs = ExecuteOneShot(shot, start, counters.clock);
  const absl::Duration executed = counters.clock.Now() - start;
  counters.CountEnd(shot.plan->call, StorageBytes(shot), executed, outputs.status());
  if (shot.times != nullptr) shot.times->executed = executed;
  // Who hears of the end finds the place free.
  place = Admission::Place();
  shot.done(std::move(outputs));
}

void EndWait(const OneShot& shot, Admission::Place& place, absl::Time now,
             EngineCounters& counters) {
  place.Start(now);
  counters.CountWait(*shot.plan->call.op, place.waited());
  if (shot.times != nullptr) shot.times->queued = place.waited();
}

void EnqueueOneShot(OneShot shot, Admission::Place place, WorkerPool::Size size,
                    EngineCounters& counters) {
  WorkerPool& workers = shot.plan->device->workers();
  const ClientId client = shot.client;
  workers.Enqueue(std::make_unique<QueuedCall>(std::move(shot), std::move(place), counters), size,
                  client);
}

}  // namespace opserve
