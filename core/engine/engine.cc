#include "core/engine/engine.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/engine/make_devices.h"
#include "core/engine/run/join_queue.h"
#include "core/engine/run/kernel_run.h"
#include "core/engine/run/one_shot_run.h"
#include "core/engine/run/piecewise.h"

namespace opserve {
namespace {

// Of inputs that came with the call. What is shared is bounded by who shares it, and only copied
// for a device that has memory of its own.
int64_t AdmittedInputBytes(const OneShot& shot) {
  int64_t bytes = StorageBytes(shot);
  if (!shot.plan->device->uses_host_memory()) return bytes;
  for (size_t i = shot.storages.size() - shot.shared_storages; i < shot.storages.size(); ++i)
    bytes -= static_cast<int64_t>(shot.storages[i].size_bytes());
  return bytes;
}

// Of memory, by the inputs. What they repeat is there once: their sizes may be any numbers.
int64_t ReachedBytes(const OpCall& call) {
  int64_t bytes = 0;
  for (const std::optional<TensorDesc>& input : call.inputs)
    bytes += input.has_value() ? input->reach_bytes() : 0;
  return bytes;
}

// Of the outputs that the call makes.
int64_t AdmittedOutputBytes(const OneShot& shot) {
  int64_t bytes = shot.plan->call.output_bytes();
  if (!shot.plan->device->uses_host_memory()) return bytes;
  for (const std::span<std::byte> storage : shot.output_storages)
    bytes -= static_cast<int64_t>(storage.size());
  return std::max<int64_t>(bytes, 0);
}

// What it has of the device while it is under way.
Admission::Demand DemandOf(const OneShot& shot, absl::Duration time, absl::Time now) {
  return {.client = shot.client,
          .bytes = SaturatingSum({AdmittedInputBytes(shot), AdmittedOutputBytes(shot),
                                  static_cast<int64_t>(ScratchBytes(*shot.plan))}),
          .time = time,
          .deadline = shot.deadline,
          .now = now,
          .is_tiny = time <= kTinyTime};
}

}  // namespace

// What the engine knows of a device.
struct Engine::Post {
  Post(Device& device, const AdmissionLimits& limits, EngineCounters& counters)
      : admission(limits, device.workers().threads()) {
    if (device.concatenation() != nullptr) joins.emplace(device, counters);
  }

  Admission admission;
  std::optional<JoinQueue> joins;  // none where each call is run by itself
};

absl::StatusOr<std::unique_ptr<Engine>> Engine::Create(const EngineOptions& options) {
  if (options.devices.empty()) return MissingParameter("devices", "at least one device");
  if (options.memory_limit_bytes <= 0) {
    return InvalidParameter("memory limit", "> 0 bytes", absl::StrCat(options.memory_limit_bytes));
  }
  OPSERVE_ASSIGN_OR_RETURN(std::vector<std::unique_ptr<Device>> devices, MakeDevices(options));
  AdmissionLimits admission = options.admission;
  admission.client_share = options.client_share;
  return Create(std::move(devices), *options.clock, admission, options.calls);
}

absl::StatusOr<std::unique_ptr<Engine>> Engine::Create(std::vector<std::unique_ptr<Device>> devices,
                                                       const Clock& clock,
                                                       const AdmissionLimits& admission,
                                                       const CallLimits& calls) {
  if (devices.empty()) return MissingParameter("devices", "at least one device");
  if (calls.max_time <= absl::ZeroDuration())
    return InvalidParameter("max_call_time", "> 0", absl::FormatDuration(calls.max_time));
  return std::unique_ptr<Engine>(new Engine(std::move(devices), admission, calls, clock));
}

Engine::Engine(std::vector<std::unique_ptr<Device>> devices, const AdmissionLimits& admission,
               const CallLimits& calls, const Clock& clock)
    : call_limits_(calls), counters_(clock), devices_(std::move(devices)) {
  for (const std::unique_ptr<Device>& device : devices_) {
    const int64_t memory = device->memory().stats().limit_bytes;
    AdmissionLimits limits = admission;
    if (limits.max_bytes == 0) limits.max_bytes = memory;
    posts_.push_back(std::make_unique<Post>(*device, limits, counters_));
    memory_limit_bytes_ += memory;
  }
}

// A device's workers finish what they have before they go.
Engine::~Engine() = default;

absl::StatusOr<Device*> Engine::FindDevice(std::string_view name) const {
  if (name.empty()) return devices_.front().get();
  std::string names;
  for (const std::unique_ptr<Device>& device : devices_) {
    if (device->info().name == name) return device.get();
    absl::StrAppend(&names, names.empty() ? "" : ", ", device->info().name);
  }
  return MakeError({.reason = ErrorReason::kDeviceNotFound,
                    .op = {},
                    .parameter = "device",
                    .want = absl::StrCat("one of ", names),
                    .got = absl::StrCat("\"", std::string(name), "\"")});
}

absl::StatusOr<Plan> Engine::MakePlan(const NamedCall& call) const {
  absl::StatusOr<Plan> plan = PlanOf(call);
  if (!plan.ok() || plan->cost.time <= call_limits_.max_time) return plan;
  return MakeError(
      {.reason = ErrorReason::kResourceLimit,
       .op = std::string(plan->call.op->name),
       .parameter = "max_call_time",
       .want = absl::StrCat("a call that takes at most ",
                            absl::FormatDuration(call_limits_.max_time), " by estimate"),
       .got = absl::StrCat(
           "one of ", absl::FormatDuration(absl::Ceil(plan->cost.time, absl::Milliseconds(1))))});
}

absl::StatusOr<Plan> Engine::PlanOf(const NamedCall& call) const {
  if (const Program* const program = AsProgram(*call.op); program != nullptr) {
    const absl::Status status = CheckProgramCount(
        "steps", program->steps().size(), static_cast<size_t>(call_limits_.max_program_steps));
    if (!status.ok()) return WithOperator(status, kProgramName);
  }
  const absl::StatusOr<Device*> device = FindDevice(call.device);
  if (!device.ok()) return WithOperator(device.status(), call.op->name);
  OPSERVE_ASSIGN_OR_RETURN(BoundCall bound, BindCall(call, (*device)->info().profile));
  OPSERVE_RETURN_IF_ERROR(PlanCall(bound.call));
  Plan plan;
  plan.device = *device;
  plan.call = std::move(bound.call);
  OPSERVE_RETURN_IF_ERROR(PlanKernel(plan, call.made));
  plan.storages = std::move(bound.storages);
  plan.output_storages = std::move(bound.output_storages);
  return plan;
}

absl::StatusOr<Plan> Engine::MakePiecewisePlan(const NamedCall& call,
                                               std::span<const bool> chunked) const {
  OPSERVE_ASSIGN_OR_RETURN(Plan plan, PlanOf(call));
  OPSERVE_RETURN_IF_ERROR(CheckPiecewise(plan, chunked));
  return plan;
}

Engine::Post& Engine::PostOf(const Device& device) {
  size_t at = 0;
  while (devices_[at].get() != &device) ++at;
  return *posts_[at];
}

absl::StatusOr<Admission::Place> Engine::Admit(Post& post, const Admission::Demand& demand) {
  Admission::Refusal refusal = Admission::Refusal::kNone;
  absl::StatusOr<Admission::Place> place = post.admission.Admit(demand, refusal);
  counters_.CountRefusal(refusal);
  return place;
}

void Engine::Submit(OneShot shot) {
  const Plan& plan = *shot.plan;
  if (RunsInline(shot)) return RunHere(std::move(shot));
  // What cannot run is refused here and now, before it waits for a worker.
  absl::Status status = CheckStorages(plan, shot.storages, shot.output_storages);
  if (!status.ok()) return shot.done(std::move(status));
  Post& post = PostOf(*plan.device);
  const absl::Duration time = EstimatedTime(shot);
  absl::StatusOr<Admission::Place> place = Admit(post, DemandOf(shot, time, clock().Now()));
  if (!place.ok()) return shot.done(WithOperator(place.status(), plan.call.op->name));
  EngineCounters::Add(counters_.Of(*plan.call.op).queued_calls, 1);
  if (post.joins.has_value() && post.joins->Enqueue(shot, *place)) return;
  const auto size = time <= kTinyTime ? WorkerPool::Size::kTiny : WorkerPool::Size::kAny;
  EnqueueOneShot(std::move(shot), *std::move(place), size, counters_);
}

void Engine::RunHere(OneShot shot) {
  EngineCounters::Add(counters_.Of(*shot.plan->call.op).inline_calls, 1);
  RunOneShot(shot, clock().Now(), Admission::Place(), counters_);
}

void Engine::SubmitGroup(CallGroup group) {
  absl::StatusOr<Admission::Place> place = Admit(PostOf(*group.device), {.client = group.client,
                                                                         .bytes = group.bytes,
                                                                         .time = group.time,
                                                                         .deadline = group.deadline,
                                                                         .now = clock().Now(),
                                                                         .is_tiny = true});
  if (!place.ok()) return group.done(place.status());
  EnqueueGroup(std::move(group), *std::move(place), counters_);
}

absl::StatusOr<SeriesOutputs> Engine::RunSeries(CallSeries series) {
  return opserve::RunSeries(std::move(series), counters_);
}

absl::StatusOr<PooledBuffer> Engine::RunPiece(const Plan& plan, ElementRange range,
                                              std::span<const bool> chunked,
                                              std::span<const Fragments> inputs, ClientId client) {
  return opserve::RunPiece(plan, range, chunked, inputs, client, counters_);
}

void Engine::CountExecution(const Plan& plan, absl::Time start, const absl::Status& status) {
  EngineCounters::Add(counters_.Of(*plan.call.op).inline_calls, 1);
  counters_.CountEnd(plan.call, ReachedBytes(plan.call), clock().Now() - start, status);
}

Admission::Place Engine::Enter(const Plan& plan, ClientId client) {
  return PostOf(*plan.device)
      .admission.Enter({.client = client, .time = plan.cost.time, .now = clock().Now()});
}

EngineStatistics Engine::statistics() const {
  EngineStatistics statistics = counters_.Read();
  for (const std::unique_ptr<Post>& post : posts_) {
    const Admission::Load load = post->admission.load();
    statistics.calls_in_flight += load.calls;
    statistics.bytes_in_flight += load.bytes;
    statistics.expected_wait = std::max(statistics.expected_wait, load.expected_wait);
  }
  return statistics;
}

void Engine::TrimIdleMemory(absl::Duration age) {
  for (const std::unique_ptr<Device>& device : devices_) {
    device->memory().TrimIdle(age);
    if (!device->uses_host_memory()) device->host_memory().TrimIdle(age);
  }
}

}  // namespace opserve
