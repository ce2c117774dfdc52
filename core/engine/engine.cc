#include "core/engine/engine.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/engine/cost.h"
#include "core/engine/join_queues.h"
#include "core/engine/kernel_run.h"
#include "core/engine/make_devices.h"
#include "core/engine/one_shot_run.h"
#include "core/op/op_table.h"

namespace opserve {
namespace {

int64_t StorageBytes(const OneShot& shot) {
  int64_t bytes = 0;
  for (const Fragments& storage : shot.storages)
    bytes += static_cast<int64_t>(storage.size_bytes());
  return bytes;
}

// Of inputs that came with the call. What is shared is bounded by who shares it, and only copied
// for a device that has memory of its own.
int64_t AdmittedInputBytes(const OneShot& shot) {
  int64_t bytes = StorageBytes(shot);
  if (!shot.plan->device->uses_host_memory()) return bytes;
  for (size_t i = shot.storages.size() - shot.shared_storages; i < shot.storages.size(); ++i)
    bytes -= static_cast<int64_t>(shot.storages[i].size_bytes());
  return bytes;
}

int64_t OutputBytes(const OpCall& call) {
  int64_t bytes = 0;
  for (const OutputSlot& output : call.outputs) {
    if (output.wanted) bytes += output.desc.size_bytes();
  }
  return bytes;
}

// Of the outputs that the call makes.
int64_t AdmittedOutputBytes(const OneShot& shot) {
  int64_t bytes = OutputBytes(shot.plan->call);
  if (!shot.plan->device->uses_host_memory()) return bytes;
  for (const std::span<std::byte> storage : shot.output_storages)
    bytes -= static_cast<int64_t>(storage.size());
  return std::max<int64_t>(bytes, 0);
}

// The sum of a few numbers of bytes, or the most that there is.
int64_t Sum(std::initializer_list<int64_t> numbers) {
  int64_t sum = 0;
  for (const int64_t number : numbers) {
    if (__builtin_add_overflow(sum, number, &sum)) return std::numeric_limits<int64_t>::max();
  }
  return sum;
}

int64_t ListBytes(const AttributeValue& attribute) {
  const auto count = [](const auto& list) { return static_cast<int64_t>(list.capacity()); };
  if (const auto* ints = std::get_if<std::vector<int64_t>>(&attribute)) return 8 * count(*ints);
  if (const auto* floats = std::get_if<std::vector<double>>(&attribute)) return 8 * count(*floats);
  if (const auto* bools = std::get_if<std::vector<bool>>(&attribute)) return count(*bools) / 8;
  return 0;
}

// What it takes to bring the storages to where kernels can read them, all of them however little
// of them is used.
absl::Duration StagingTime(const OneShot& shot) {
  if (!shot.plan->device->uses_host_memory()) return CopyTime(StorageBytes(shot));
  int64_t bytes = 0;
  for (const Fragments& storage : shot.storages) bytes += StagedBytes(storage);
  return CopyTime(bytes);
}

}  // namespace

int64_t HostBytes(const Plan& plan) {
  // A plan as such, with the tables and the handles that it is kept in.
  constexpr int64_t kPlanBytes = 3072;
  int64_t bytes = kPlanBytes;
  for (const AttributeValue& attribute : plan.call.attributes) bytes += ListBytes(attribute);
  return bytes;
}

bool RunsInline(const Plan& plan) {
  return plan.cost.time <= kInlineTime && plan.device->uses_host_memory();
}

absl::StatusOr<std::unique_ptr<Engine>> Engine::Create(const EngineOptions& options) {
  if (options.devices.empty()) return MissingParameter("devices", "at least one device");
  if (options.memory_limit_bytes <= 0) {
    return InvalidParameter("memory limit", "> 0 bytes", absl::StrCat(options.memory_limit_bytes));
  }
  OPSERVE_ASSIGN_OR_RETURN(std::vector<std::unique_ptr<Device>> devices, MakeDevices(options));
  AdmissionLimits admission = options.admission;
  admission.client_share = options.client_share;
  return Create(std::move(devices), *options.clock, admission, options.max_call_time);
}

absl::StatusOr<std::unique_ptr<Engine>> Engine::Create(std::vector<std::unique_ptr<Device>> devices,
                                                       const Clock& clock,
                                                       const AdmissionLimits& admission,
                                                       absl::Duration max_call_time) {
  if (devices.empty()) return MissingParameter("devices", "at least one device");
  if (max_call_time <= absl::ZeroDuration()) {
    return InvalidParameter("max_call_time", "> 0", absl::FormatDuration(max_call_time));
  }
  return std::unique_ptr<Engine>(new Engine(std::move(devices), admission, max_call_time, clock));
}

Engine::Engine(std::vector<std::unique_ptr<Device>> devices, const AdmissionLimits& admission,
               absl::Duration max_call_time, const Clock& clock)
    : clock_(clock),
      max_call_time_(max_call_time),
      joins_(std::make_unique<JoinQueues>(devices)),
      devices_(std::move(devices)) {
  for (const std::unique_ptr<Device>& device : devices_) {
    const int64_t memory = device->memory().stats().limit_bytes;
    AdmissionLimits limits = admission;
    if (limits.max_bytes == 0) limits.max_bytes = memory;
    admissions_.push_back(std::make_unique<Admission>(limits, device->workers().threads()));
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
  if (!plan.ok() || plan->cost.time <= max_call_time_) return plan;
  return MakeError({.reason = ErrorReason::kResourceLimit,
                    .op = std::string(plan->call.op->name),
                    .parameter = "max_call_time",
                    .want = absl::StrCat("a call that takes at most ",
                                         absl::FormatDuration(max_call_time_), " by estimate"),
                    .got = absl::StrCat("one of ", absl::FormatDuration(plan->cost.time))});
}

absl::StatusOr<Plan> Engine::PlanOf(const NamedCall& call) const {
  OPSERVE_ASSIGN_OR_RETURN(const Operator* op, FindOperator(call.op));
  const absl::StatusOr<Device*> device = FindDevice(call.device);
  if (!device.ok()) return WithOperator(device.status(), op->name);
  OPSERVE_ASSIGN_OR_RETURN(BoundCall bound, BindCall(call, *op, (*device)->info().profile));
  OPSERVE_RETURN_IF_ERROR(PlanCall(bound.call));
  Plan plan;
  plan.device = *device;
  plan.call = std::move(bound.call);
  OPSERVE_RETURN_IF_ERROR(PlanKernel(plan));
  plan.storages = std::move(bound.storages);
  plan.output_storages = std::move(bound.output_storages);
  return plan;
}

// A call between Submit and its end.
class Engine::QueuedCall final : public WorkerPool::Task {
 public:
  QueuedCall(Engine& engine, OneShot shot, Admission::Place place)
      : engine_(engine), shot_(std::move(shot)), place_(std::move(place)) {}

  void Run() override {
    const absl::Time now = engine_.clock_.Now();
    place_.Start(now);
    EngineCounters::Add(engine_.counters_.queue_wait_ns, absl::ToInt64Nanoseconds(place_.waited()));
    engine_.Run(std::move(shot_), now, std::move(place_));
  }

 private:
  Engine& engine_;
  OneShot shot_;
  Admission::Place place_;
};

Admission& Engine::AdmissionOf(const Device& device) {
  size_t at = 0;
  while (devices_[at].get() != &device) ++at;
  return *admissions_[at];
}

void Engine::Submit(OneShot shot) {
  const Plan& plan = *shot.plan;
  const absl::Duration time = plan.cost.time + StagingTime(shot) + shot.done_time;
  if (RunsInline(plan) && time <= kInlineTime) {
    EngineCounters::Add(counters_.inline_calls, 1);
    return Run(std::move(shot), clock_.Now(), Admission::Place());
  }
  // What cannot run is refused here and now, before it waits for a worker.
  absl::Status status = CheckStorages(plan, shot.storages, shot.output_storages);
  Admission::Refusal refusal = Admission::Refusal::kNone;
  Admission::Place place;
  if (status.ok()) {
    absl::StatusOr<Admission::Place> admitted =
        AdmissionOf(*plan.device)
            .Admit({.client = shot.client,
                    .bytes = Sum({AdmittedInputBytes(shot), AdmittedOutputBytes(shot),
                                  static_cast<int64_t>(ScratchBytes(plan))}),
                    .time = time,
                    .deadline = shot.deadline,
                    .now = clock_.Now()},
                   refusal);
    counters_.CountRefusal(refusal);
    status = WithOperator(admitted.status(), plan.call.op->name);
    if (admitted.ok()) place = *std::move(admitted);
  }
  if (!status.ok()) return shot.done(std::move(status));
  EngineCounters::Add(counters_.queued_calls, 1);
  if (EnqueueJoinable(shot, place)) return;
  WorkerPool& workers = plan.device->workers();
  const auto size = time <= kTinyTime ? WorkerPool::Size::kTiny : WorkerPool::Size::kAny;
  const ClientId client = shot.client;
  workers.Enqueue(std::make_unique<QueuedCall>(*this, std::move(shot), std::move(place)), size,
                  client);
}

Admission::Place Engine::Enter(const Plan& plan, ClientId client) {
  return AdmissionOf(*plan.device)
      .Enter({.client = client, .time = plan.cost.time, .now = clock_.Now()});
}

void Engine::RunHere(OneShot shot) {
  EngineCounters::Add(counters_.queued_calls, 1);
  Run(std::move(shot), clock_.Now(), Admission::Place());
}

void Engine::Run(OneShot shot, absl::Time start, Admission::Place place) {
  EngineCounters::Add(counters_.input_bytes, StorageBytes(shot));
  absl::StatusOr<Outputs> outputs = RunOneShot(shot, start, clock_);
  EngineCounters::Add(counters_.execution_ns, absl::ToInt64Nanoseconds(clock_.Now() - start));
  if (outputs.ok()) {
    EngineCounters::Add(counters_.output_bytes, OutputBytes(shot.plan->call));
  } else {
    counters_.CountFailure(outputs.status().code());
  }
  // Who hears of the end finds the place free.
  place = Admission::Place();
  shot.done(std::move(outputs));
}

EngineStatistics Engine::statistics() const {
  EngineStatistics statistics{
      .inline_calls = counters_.inline_calls,
      .queued_calls = counters_.queued_calls,
      .failed_calls = counters_.failed_calls,
      .expired_calls = counters_.expired_calls,
      .cancelled_calls = counters_.cancelled_calls,
      .refused_calls = counters_.refused_calls,
      .refused_bytes = counters_.refused_bytes,
      .refused_wait = counters_.refused_wait,
      .refused_deadline = counters_.refused_deadline,
      .input_bytes = counters_.input_bytes,
      .output_bytes = counters_.output_bytes,
      .queue_wait = absl::Nanoseconds(counters_.queue_wait_ns.load()),
      .execution = absl::Nanoseconds(counters_.execution_ns.load()),
  };
  for (const std::unique_ptr<Admission>& admission : admissions_) {
    const Admission::Load load = admission->load();
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
