#include "core/engine/engine.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/backends/cpu/cpu_device.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/engine/one_shot_run.h"
#include "core/op/op_table.h"

namespace opserve {
namespace {

// Bytes of inputs, outputs and workspace up to which a call is run by the thread that brings it.
constexpr int64_t kInlineBytes = 64 << 10;

class RunTask final : public WorkerPool::Task {
 public:
  explicit RunTask(OneShot shot, const Clock& clock) : shot_(std::move(shot)), clock_(clock) {}
  void Run() override { RunOneShot(std::move(shot_), clock_); }

 private:
  OneShot shot_;
  const Clock& clock_;
};

// Whether the call is over sooner than it is handed over, and waits for no device.
bool RunsHere(const Plan& plan) {
  if (!plan.device->uses_host_memory()) return false;
  int64_t bytes = static_cast<int64_t>(plan.workspace_bytes);
  for (const int64_t more : {plan.call.input_bytes(), plan.call.output_bytes()}) {
    if (__builtin_add_overflow(bytes, more, &bytes)) return false;
  }
  return bytes <= kInlineBytes;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> Engine::Create(const EngineOptions& options) {
  if (options.devices.empty()) return MissingParameter("devices", "at least one device");
  if (options.memory_limit_bytes <= 0) {
    return InvalidParameter("memory limit", "> 0 bytes", absl::StrCat(options.memory_limit_bytes));
  }
  std::vector<std::unique_ptr<Device>> devices;
  for (const DeviceSpec& spec : options.devices) {
    devices.push_back(cpu::MakeCpuDevice(
        {.name = absl::StrCat("cpu:", devices.size()),
         .threads = spec.threads,
         .profile = spec.profile,
         .memory_limit_bytes =
             options.memory_limit_bytes / static_cast<int64_t>(options.devices.size())},
        *options.clock));
  }
  return std::unique_ptr<Engine>(
      new Engine(std::move(devices), options.memory_limit_bytes, *options.clock));
}

absl::StatusOr<std::unique_ptr<Engine>> Engine::Create(std::vector<std::unique_ptr<Device>> devices,
                                                       const Clock& clock) {
  if (devices.empty()) return MissingParameter("devices", "at least one device");
  int64_t limit = 0;
  for (const std::unique_ptr<Device>& device : devices)
    limit += device->memory().stats().limit_bytes;
  return std::unique_ptr<Engine>(new Engine(std::move(devices), limit, clock));
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
  OPSERVE_ASSIGN_OR_RETURN(const Operator* op, FindOperator(call.op));
  const absl::StatusOr<Device*> device = FindDevice(call.device);
  if (!device.ok()) return WithOperator(device.status(), op->name);
  OPSERVE_ASSIGN_OR_RETURN(BoundCall bound, BindCall(call, *op, (*device)->info().profile));
  OPSERVE_RETURN_IF_ERROR(PlanCall(bound.call));
  Plan plan;
  plan.device = *device;
  plan.kernel = plan.device->FindKernel(*op);
  if (plan.kernel == nullptr) {
    return MakeError({.reason = ErrorReason::kOperatorUnsupported,
                      .op = std::string(op->name),
                      .parameter = "device",
                      .want = "a device that has the operator",
                      .got = plan.device->info().name});
  }
  plan.workspace_bytes = plan.kernel->workspace_bytes(bound.call);
  plan.call = std::move(bound.call);
  plan.storages = std::move(bound.storages);
  plan.output_storages = std::move(bound.output_storages);
  return plan;
}

void Engine::Submit(OneShot shot) {
  if (RunsHere(shot.plan)) {
    RunOneShot(std::move(shot), clock_);
    return;
  }
  Device& device = *shot.plan.device;
  // What cannot run is refused here and now, before it waits for a worker.
  absl::Status status = CheckStorages(shot.plan, shot.storages);
  if (!status.ok()) {
    shot.done(std::move(status));
    return;
  }
  device.workers().Enqueue(std::make_unique<RunTask>(std::move(shot), clock_));
}

void Engine::RunHere(OneShot shot) const { RunOneShot(std::move(shot), clock_); }

EngineStatistics Engine::statistics() const { return {}; }

void Engine::TrimIdleMemory(absl::Duration age) {
  for (const std::unique_ptr<Device>& device : devices_) {
    device->memory().TrimIdle(age);
    if (!device->uses_host_memory()) device->host_memory().TrimIdle(age);
  }
}

}  // namespace opserve
