// The interface of core: plan a call, run a call. The services, the C interface and the tests all
// use it.
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
  // With these devices, at least one. `clock` must outlive the engine.
  static absl::StatusOr<std::unique_ptr<Engine>> Create(
      std::vector<std::unique_ptr<Device>> devices, const Clock& clock,
      const AdmissionLimits& admission = {}, const CallLimits& calls = {});
  // Blocks until all submitted calls have ended.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Phase one. Errors: NOT_FOUND for the device, UNIMPLEMENTED by the profile, 161001, 161002;
  // RESOURCE_EXHAUSTED `max_call_time` for a call that would take too long, `steps` for a program
  // of too many. Changes nothing.
  absl::StatusOr<Plan> MakePlan(const NamedCall& call) const;

  // Phase one of a call that RunPiece runs. `chunked` marks the inputs that come in pieces (schema
  // order). Such a call may take any time, because each piece takes little.
  // Errors: MakePlan's, CheckPiecewise's.
  absl::StatusOr<Plan> MakePiecewisePlan(const NamedCall& call,
                                         std::span<const bool> chunked) const;

  // Phase two: checks each input against its storage (161002), leases memory (RESOURCE_EXHAUSTED),
  // runs the call and calls `done` once. Tiny calls (Plan::cost) on host memory run on this thread.
  // Other calls are admitted (RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED; see Admission) and queued for
  // the workers of the device. A running call stops between two chunks if it is cancelled or its
  // deadline passes.
  void Submit(OneShot shot);

  // Admits a group as one call and queues it for the device's workers, among the tiny tasks. Other
  // work runs between two turns of the group.
  void SubmitGroup(CallGroup group);

  // Runs the calls on this thread. Each succeeds or fails by itself, as if it was submitted; the
  // deadline and the cancellation are common to all. After an error no call has begun: there was
  // not enough memory for all of them.
  absl::StatusOr<SeriesOutputs> RunSeries(CallSeries series);

  // Runs the call on this thread, whatever it costs, and calls `done` before it returns. The call
  // is counted as one that did not wait for a worker.
  void RunHere(OneShot shot);

  // Computes elements [range.begin, range.begin + range.count) of the output, into host memory.
  // `plan` is one of MakePiecewisePlan. `inputs`, in schema order, are the bytes of the range for a
  // chunked input, and the whole storage for any other; fragments that are not aligned or not
  // contiguous are copied first. Memory is charged to `client`. The piece that begins at 0 counts
  // the call. Errors: CheckPiecewise's, 161002 for a wrong number of bytes, RESOURCE_EXHAUSTED,
  // 361001. Blocks; any thread.
  absl::StatusOr<PooledBuffer> RunPiece(const Plan& plan, ElementRange range,
                                        std::span<const bool> chunked,
                                        std::span<const Fragments> inputs, ClientId client);

  // Counts a call that an Execution ran, from `start` until now.
  void CountExecution(const Plan& plan, absl::Time start, const absl::Status& status);

  // A place among the calls of a device for work on a stream. It is never refused, and it counts in
  // the time that other calls expect to wait.
  Admission::Place Enter(const Plan& plan, ClientId client);

  // The device of that name, the first for an empty one; NOT_FOUND (DEVICE_NOT_FOUND) otherwise.
  absl::StatusOr<Device*> FindDevice(std::string_view name) const;

  std::span<const std::unique_ptr<Device>> devices() const { return devices_; }
  int64_t memory_limit_bytes() const { return memory_limit_bytes_; }
  const CallLimits& call_limits() const { return call_limits_; }
  // The clock that deadlines are compared with.
  const Clock& clock() const { return counters_.clock; }

  EngineStatistics statistics() const;

  // Frees pooled memory that was unused for `age`. Call it about once a second.
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
  // Declared before the devices, whose workers use the posts until they end.
  std::vector<std::unique_ptr<Post>> posts_;  // of the device at the same place
  const std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace opserve
