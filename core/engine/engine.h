// The one door into core: plan a call, run a call. Services, the C interface and tests all come
// through here.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/engine/engine_options.h"
#include "core/engine/plan/scheduling.h"
#include "core/engine/run/call_group.h"
#include "core/engine/run/call_series.h"
#include "core/engine/run/one_shot.h"
#include "core/op/named_call.h"

namespace opserve {

// Thread-safe.
class Engine {
 public:
  static absl::StatusOr<std::unique_ptr<Engine>> Create(const EngineOptions& options);
  // Of these devices, at least one. `clock` must outlive the engine.
  static absl::StatusOr<std::unique_ptr<Engine>> Create(
      std::vector<std::unique_ptr<Device>> devices, const Clock& clock,
      const AdmissionLimits& admission = {}, const CallLimits& calls = {});
  // Waits for the calls that were submitted.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Phase one. Errors: NOT_FOUND device, UNIMPLEMENTED by the profile, 161001, 161002;
  // RESOURCE_EXHAUSTED `max_call_time` for one that takes longer than calls may, `steps` for a
  // program of more than programs may have. Pure.
  absl::StatusOr<Plan> MakePlan(const NamedCall& call) const;

  // Phase one of a call that RunPiece runs, with the inputs that are `chunked` (schema order)
  // coming in pieces: it may take any time, as a piece takes little.
  // Errors: MakePlan's, CheckPiecewise's.
  absl::StatusOr<Plan> MakePiecewisePlan(const NamedCall& call,
                                         std::span<const bool> chunked) const;

  // Phase two: checks each input against its storage (161002), leases memory (RESOURCE_EXHAUSTED),
  // runs, calls `done`. Tiny calls (Plan::cost) on memory of the host run here and now. Others
  // are admitted (RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED; see Admission) and queued for the device's
  // workers. A call that runs is stopped between two chunks when it is cancelled or its deadline
  // passes.
  void Submit(OneShot shot);

  // Admits a group as one call and queues it for the device's workers, among the tiny tasks:
  // between two turns others have theirs.
  void SubmitGroup(CallGroup group);

  // Runs them on this thread; each succeeds or fails by itself, as if it was submitted, but
  // deadline and cancellation count for all. With an error none has begun: there is no memory for
  // all of them together.
  absl::StatusOr<SeriesOutputs> RunSeries(CallSeries series);

  // Runs it on this thread, whatever its cost: `done` was called when it returns. It waits for no
  // worker, and is counted so.
  void RunHere(OneShot shot);

  // Of a plan that MakePiecewisePlan made:
  // elements [range.begin, range.begin + range.count) of the output, in memory of the host.
  // `inputs`, in schema order, are the range's bytes of an input that is chunked, the whole storage
  // of any other; what lies in pieces or is not aligned is gathered. The call is counted with the
  // piece that begins at 0. Errors: CheckPiecewise's, 161002 for bytes that are not the range's,
  // RESOURCE_EXHAUSTED, 361001. Blocks; any thread.
  absl::StatusOr<PooledBuffer> RunPiece(const Plan& plan, ElementRange range,
                                        std::span<const bool> chunked,
                                        std::span<const Fragments> inputs);

  // Counts a call that ran elsewhere (Execution), from `start` until now.
  void CountExecution(const Plan& plan, absl::Time start, const absl::Status& status);

  // A place among a device's calls for work that a stream brings in its turn: it is never refused,
  // and other calls expect to wait for it.
  Admission::Place Enter(const Plan& plan, ClientId client);

  // The device of that name, the first for an empty one; NOT_FOUND (DEVICE_NOT_FOUND) otherwise.
  absl::StatusOr<Device*> FindDevice(std::string_view name) const;

  std::span<const std::unique_ptr<Device>> devices() const { return devices_; }
  int64_t memory_limit_bytes() const { return memory_limit_bytes_; }
  const CallLimits& call_limits() const { return call_limits_; }
  // What deadlines are compared with.
  const Clock& clock() const { return counters_.clock; }

  EngineStatistics statistics() const;

  // Gives idle pooled memory back; call it now and then.
  void TrimIdleMemory(absl::Duration age);

 private:
  struct Post;

  Engine(std::vector<std::unique_ptr<Device>> devices, const AdmissionLimits& admission,
         const CallLimits& calls, const Clock& clock);
  // Phase one, however long the call takes.
  absl::StatusOr<Plan> PlanOf(const NamedCall& call) const;
  Post& PostOf(const Device& device);
  // Counts refusals.
  absl::StatusOr<Admission::Place> Admit(Post& post, const Admission::Demand& demand);

  const CallLimits call_limits_;
  int64_t memory_limit_bytes_ = 0;
  EngineCounters counters_;
  // The devices come after what their workers use.
  std::vector<std::unique_ptr<Post>> posts_;  // of the device at the same place
  const std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace opserve
