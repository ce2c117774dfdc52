// The one door into core: plan a call, run a call. Services, the C interface and tests all come
// through here.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/fragments.h"
#include "core/device/device.h"
#include "core/engine/admission.h"
#include "core/engine/cost.h"
#include "core/engine/counters.h"
#include "core/op/named_call.h"

namespace opserve {

// Phase one's answer: a checked call and where it runs. A value; copy it freely while its engine
// lives.
struct Plan {
  OpCall call;
  absl::InlinedVector<int, 3>
      storages;  // of each input in schema order: index into OneShot::storages, or -1
  // Of each output likewise: index into OneShot::output_storages, or -1 for one that is made.
  absl::InlinedVector<int, 1> output_storages;
  Device* device = nullptr;
  const Kernel* kernel = nullptr;  // nullptr: there is nothing to make (OpCall::makes_nothing)
  size_t workspace_bytes = 0;      // the caller's to bring, where it wants to
  size_t control_bytes = 0;        // KernelArgs::control: the engine's in any case
  Cost cost;
};

// A plan that many calls run, as they differ in nothing but their bytes. Never null once it was
// set; copies share it.
class SharedPlan {
 public:
  SharedPlan() = default;
  explicit SharedPlan(Plan plan) : plan_(std::make_shared<const Plan>(std::move(plan))) {}
  SharedPlan& operator=(Plan plan) { return *this = SharedPlan(std::move(plan)); }

  const Plan& operator*() const { return *plan_; }
  const Plan* operator->() const { return plan_.get(); }

 private:
  std::shared_ptr<const Plan> plan_;
};

// One output of an executed call. Dense; a masked-out one has shape [0] and no bytes.
struct OutputTensor {
  std::string_view name;  // the schema's
  TensorDesc desc;
  PooledBuffer bytes;  // none for one that was written to OneShot::output_storages
};

using Outputs = std::vector<OutputTensor>;

// A call with its data.
struct OneShot {
  SharedPlan plan;
  // The bytes that inputs look into. They must stay valid until `done` was called; they are not
  // changed.
  std::vector<Fragments> storages;
  // The last so many of `storages` are in memory that others may change while the call runs, each
  // in one piece. What a changed byte does is change the outputs, nothing else. They are not
  // counted among the bytes that the call brings.
  size_t shared_storages = 0;
  // Memory of the host for outputs, each exactly as large as its output. It must stay valid until
  // `done` was called; its contents are undefined when the call fails.
  std::vector<std::span<std::byte>> output_storages;
  // Whom it is charged to.
  ClientId client = ClientId::kNone;
  absl::Time deadline = absl::InfiniteFuture();
  // Asked before the call runs; true drops it. May be empty. Any thread.
  absl::AnyInvocable<bool()> cancelled;
  // Called exactly once, with no lock held, on the submitting thread (before Submit returns) or on
  // a worker. It must not block.
  absl::AnyInvocable<void(absl::StatusOr<Outputs>)> done;
  absl::Duration done_time;  // about what it takes, where that is much
};

// Many small calls that came together: one piece of work for a device's workers, done in turns.
struct CallGroup {
  Device* device = nullptr;  // one of the engine's
  ClientId client = ClientId::kNone;
  int64_t bytes = 0;  // of all calls, estimated like `time`
  absl::Duration time;
  absl::Time deadline = absl::InfiniteFuture();
  // Asked before each turn; true drops what is left. May be empty. Any thread.
  absl::AnyInvocable<bool()> cancelled;
  // Runs (RunHere) or submits some of the calls, for about kTinyTime; whether there are more. On a
  // worker, one turn after the other. It must not block.
  absl::AnyInvocable<bool()> turn;
  // Called exactly once, with no lock held: OK on a worker, after the last turn. With an error for
  // what was left: when the group is refused, on the submitting thread before SubmitGroup returns;
  // when it was cancelled or expired, on a worker.
  absl::AnyInvocable<void(absl::Status)> done;
};

// Calls of one plan that run one after the other on the thread that brings them.
struct CallSeries {
  struct Call {
    // For each index that Plan::storages has, the index into CallSeries::storages.
    std::span<const uint32_t> storages;
    absl::Status status;  // how it ended
  };

  const Plan* plan = nullptr;           // RunsInline, and makes all its outputs
  std::span<const Fragments> storages;  // of all of them, in memory that nobody changes
  std::span<Call> calls;
  ClientId client = ClientId::kNone;
  absl::Time deadline = absl::InfiniteFuture();
  // Asked before the first call runs; true drops them all. May be empty.
  absl::AnyInvocable<bool()> cancelled;
};

// What they made, in one piece of memory of the host.
class SeriesOutputs {
 public:
  // RESOURCE_EXHAUSTED: the device has no memory for all of them.
  static absl::StatusOr<SeriesOutputs> Lease(const Plan& plan, size_t calls, ClientId client);

  // No bytes for an output that is masked out or has no elements.
  std::span<std::byte> at(size_t call, size_t output) const {
    const Place& place = places_[output];
    return {place.bytes == 0 ? nullptr : memory_.data() + call * call_bytes_ + place.offset,
            place.bytes};
  }

 private:
  struct Place {
    size_t offset;  // from the start of the call's
    size_t bytes;
  };
  PooledBuffer memory_;
  size_t call_bytes_ = 0;
  absl::InlinedVector<Place, 2> places_;
};

// About what it takes of the host's memory.
int64_t HostBytes(const Plan& plan);

// Whether Submit runs it on the thread that brings it.
bool RunsInline(const Plan& plan);

// Every input of a plan has a storage and lies inside it; an output that is not made has memory of
// its size, aligned to its elements and apart from the inputs' and the other outputs'; none has a
// layout of the caller's (kGiven): 161001, 161002 naming the tensor. Submit checks this itself;
// services that want to refuse earlier may too.
absl::Status CheckStorages(const Plan& plan, std::span<const Fragments> storages,
                           std::span<const std::span<std::byte>> output_storages = {});

// What engines are made of: "cpu", "cpu,threads=2,profile=atlas-a2", "ascend:0-3".
struct DeviceSpec {
  std::string kind = "cpu";
  int threads = 0;  // 0 = every usable core; of an NPU, 4 that wait for it
  Profile profile = Profile::kHost;
  std::vector<int> ids = {};  // of NPUs, the runtime's numbers; none = all that it sees
};

// Parses the text form of --device; errors (161002) name the part.
absl::StatusOr<DeviceSpec> ParseDeviceSpec(std::string_view text);

struct EngineOptions {
  std::vector<DeviceSpec> devices = {DeviceSpec()};
  // Folders with the vendor's libraries for NPUs, or single libraries of operators; see
  // ascend::AclLibrary::Open.
  std::vector<std::string> ascend_library_paths = {};
  // Bound on tensors and workspaces, over all devices in equal parts.
  int64_t memory_limit_bytes = int64_t{1} << 30;
  // What one client may have of a device's memory, calls and bytes in flight; see SharedLimit.
  double client_share = 1;
  // Of each device. `max_bytes` of 0: the device's part of the memory limit.
  AdmissionLimits admission = {.max_bytes = 0};
  // What a call may take by estimate (Plan::cost), unless it runs in pieces.
  absl::Duration max_call_time = absl::InfiniteDuration();
  const Clock* clock = &Clock::Real();
};

// What an engine has done since it was made, and has under way. All but the last three only grow.
struct EngineStatistics {
  int64_t inline_calls = 0;  // run on the thread that brought them
  int64_t queued_calls = 0;  // handed to a device's workers
  int64_t failed_calls = 0;  // of both: ended with an error other than the next two
  int64_t expired_calls =
      0;  // dropped, before they ran or at a chunk's end, as their deadline passed
  int64_t cancelled_calls = 0;   // likewise, as their caller went away
  int64_t refused_calls = 0;     // by the bound on calls in flight
  int64_t refused_bytes = 0;     // by the bound on bytes in flight (calls, not bytes)
  int64_t refused_wait = 0;      // by the bound on the expected wait
  int64_t refused_deadline = 0;  // as the expected wait was longer than the deadline
  int64_t input_bytes = 0;       // that came with calls that ran
  int64_t output_bytes = 0;      // of those that succeeded
  absl::Duration queue_wait;     // of queued calls, from Submit to their start, summed up
  absl::Duration execution;      // of both, from start to end, summed up
  int64_t calls_in_flight = 0;   // queued or running on workers now
  int64_t bytes_in_flight = 0;   // of their inputs, outputs and workspaces
  absl::Duration expected_wait;  // of a call that came now, on the busiest device
};

// Thread-safe.
class Engine {
 public:
  static absl::StatusOr<std::unique_ptr<Engine>> Create(const EngineOptions& options);
  // Of these devices, at least one. `clock` must outlive the engine.
  static absl::StatusOr<std::unique_ptr<Engine>> Create(
      std::vector<std::unique_ptr<Device>> devices, const Clock& clock,
      const AdmissionLimits& admission = {.max_bytes = 0},
      absl::Duration max_call_time = absl::InfiniteDuration());
  // Waits for the calls that were submitted.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Phase one. Errors: NOT_FOUND operator or device, UNIMPLEMENTED by the profile, 161001, 161002;
  // RESOURCE_EXHAUSTED `max_call_time` for one that takes longer than calls may. Pure.
  absl::StatusOr<Plan> MakePlan(const NamedCall& call) const;

  // Phase one of a call that RunPiece (core/engine/piecewise.h) runs, with the inputs that are
  // `chunked` (schema order) coming in pieces: it may take any time, as a piece takes little.
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

  // Runs it on this thread, whatever its cost: `done` was called when it returns.
  void RunHere(OneShot shot);

  // A place among a device's calls for work that a stream brings in its turn: it is never refused,
  // and other calls expect to wait for it.
  Admission::Place Enter(const Plan& plan, ClientId client);

  // The device of that name, the first for an empty one; NOT_FOUND (DEVICE_NOT_FOUND) otherwise.
  absl::StatusOr<Device*> FindDevice(std::string_view name) const;

  std::span<const std::unique_ptr<Device>> devices() const { return devices_; }
  int64_t memory_limit_bytes() const { return memory_limit_bytes_; }
  // What deadlines are compared with.
  const Clock& clock() const { return clock_; }

  EngineStatistics statistics() const;

  // Gives idle pooled memory back; call it now and then.
  void TrimIdleMemory(absl::Duration age);

 private:
  class QueuedCall;
  class GroupTurn;
  class JoinTurn;
  class JoinQueues;
  struct WaitingCall {
    OneShot shot;
    Admission::Place place;
  };

  Engine(std::vector<std::unique_ptr<Device>> devices, const AdmissionLimits& admission,
         absl::Duration max_call_time, const Clock& clock);
  // Phase one, however long the call takes.
  absl::StatusOr<Plan> PlanOf(const NamedCall& call) const;
  Admission& AdmissionOf(const Device& device);
  // What follows Submit's checks. Lets go of `place` before it tells `done`.
  void Run(OneShot shot, absl::Time start, Admission::Place place);
  // Queues a call that may be joined with others, and takes both arguments; false for any other.
  bool EnqueueJoinable(OneShot& shot, Admission::Place& place);
  // Runs calls with the same key, whose turn has come, as one.
  void RunJoined(std::vector<WaitingCall> calls);
  absl::StatusOr<Outputs> ExecuteJoined(std::vector<WaitingCall>& calls, absl::Time now);
  void EndJoined(std::vector<WaitingCall> calls, Outputs joined);

  const Clock& clock_;
  const absl::Duration max_call_time_;
  int64_t memory_limit_bytes_ = 0;
  EngineCounters counters_;
  // The devices come after what their workers use.
  std::unique_ptr<JoinQueues> joins_;
  std::vector<std::unique_ptr<Admission>> admissions_;  // of the device at the same place
  const std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace opserve
