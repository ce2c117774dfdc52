#include "core/engine/execution.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/engine/run/kernel_run.h"

namespace opserve {
namespace {

using GoesOn = absl::FunctionRef<absl::Status()>;

std::byte* AddressOf(const StorageView& view, const TensorDesc& desc) {
  return desc.num_elements() == 0 ? nullptr : view.buffer->data() + view.offset_bytes;
}

}  // namespace

absl::Status Execution::Shared::TakeOff(const std::shared_ptr<Stream>& on) {
  MutexLock lock(mutex);
  if (in_flight > 0 && stream.lock() != on) {
    return InvalidParameter("executor", "one that is not in flight on another stream",
                            absl::StrCat("one with ", in_flight, " executions on one"));
  }
  stream = on;
  ++in_flight;
  return absl::OkStatus();
}

void Execution::Shared::Land() {
  MutexLock lock(mutex);
  --in_flight;
}

struct Execution::State {
  ~State() { Land(); }

  // Lets go of all but the outputs.
  void Land() {
    if (std::exchange(landed, true)) return;
    views = {};
    workspace = {};
    scratch.reset();
    shared->Land();
  }

  absl::Status Lease(Context& from) {
    const Plan& plan = shared->plan;
    for (size_t i = 0; i < plan.call.outputs.size(); ++i) {
      const OutputSlot& slot = plan.call.outputs[i];
      const std::string_view name = plan.call.op->outputs[i].name;
      ExecutedOutput& output = outputs.emplace_back();
      output = {.name = name, .desc = slot.desc, .storage = views.outputs[i]};
      output.wanted = slot.wanted;
      output.made = slot.wanted && !IsInPlace(plan, i);
      if (!output.made) continue;
      OPSERVE_ASSIGN_OR_RETURN(output.storage.buffer, from.Allocate(slot.desc.size_bytes(), name,
                                                                    Context::Contents::kUndefined));
    }
    return LeaseScratch(from);
  }

  // The workspace, unless there is one of the caller's; and the control memory, which is none of
  // the caller's ever.
  absl::Status LeaseScratch(Context& from) {
    const Plan& plan = shared->plan;
    const bool brought = workspace.buffer != nullptr;
    const size_t bytes = brought ? plan.control_bytes : ScratchBytes(plan);
    if (bytes == 0) return absl::OkStatus();
    OPSERVE_ASSIGN_OR_RETURN(scratch, from.Allocate(static_cast<int64_t>(bytes),
                                                    brought ? "control memory" : "workspace",
                                                    Context::Contents::kUndefined));
    return absl::OkStatus();
  }

  // For what the kernel has besides its tensors.
  void SetScratch(KernelRun& run) const {
    std::byte* const own = scratch == nullptr ? nullptr : scratch->data();
    if (workspace.buffer == nullptr) return run.SetScratch(own);
    run.SetScratch(workspace.buffer->data() + workspace.offset_bytes, own);
  }

  absl::Status RunOn(const Context& of, const Stream& on, GoesOn goes_on) {
    const Plan& plan = shared->plan;
    // It had its place on the stream until now; from now on others wait for it.
    std::optional<Admission::Place> place;
    if (!RunsInline(plan)) place = shared->engine.Enter(plan, of.client());
    KernelRun run(plan);
    run.SetInputs([&](size_t i) { return AddressOf(views.inputs[i], *plan.call.inputs[i]); });
    run.SetOutputs([&](size_t i) { return AddressOf(outputs[i].storage, outputs[i].desc); });
    SetScratch(run);
    const auto both_go_on = [&]() -> absl::Status {
      OPSERVE_RETURN_IF_ERROR(goes_on());
      return on.is_abandoned() ? MakeError({.reason = ErrorReason::kCancelled}) : absl::OkStatus();
    };
    return RunWhile(*plan.device, both_go_on,
                    [&](const Workers& workers) { return run.Run(workers); });
  }

  absl::Status Run(GoesOn goes_on) {
    const std::shared_ptr<Context> alive = context.lock();
    const std::shared_ptr<Stream> on = stream.lock();
    if (alive == nullptr || on == nullptr) return MakeError({.reason = ErrorReason::kCancelled});
    OPSERVE_RETURN_IF_ERROR(goes_on());
    OPSERVE_RETURN_IF_ERROR(Lease(*alive));
    return RunOn(*alive, *on, goes_on);
  }

  const std::shared_ptr<Shared> shared;
  // Not held: work that waits on a stream must not keep the stream, nor its owner.
  const std::weak_ptr<Context> context;
  const std::weak_ptr<Stream> stream;
  CallViews views;
  StorageView workspace;  // the caller's; none where the execution leases its own
  std::shared_ptr<DeviceBuffer> scratch = nullptr;
  std::vector<ExecutedOutput> outputs = {};
  bool landed = false;
};

Execution::Execution(std::shared_ptr<Shared> shared, const std::shared_ptr<Context>& context,
                     const std::shared_ptr<Stream>& stream, CallViews views, StorageView workspace)
    : state_(
          new State{std::move(shared), context, stream, std::move(views), std::move(workspace)}) {}
Execution::Execution(Execution&&) noexcept = default;
Execution& Execution::operator=(Execution&&) noexcept = default;
Execution::~Execution() = default;

absl::Status Execution::Run() {
  return Run([] { return absl::OkStatus(); });
}

absl::Status Execution::Run(GoesOn goes_on) {
  const Shared& shared = *state_->shared;
  const absl::Time start = shared.engine.clock().Now();
  absl::Status status = state_->Run(goes_on);
  shared.engine.CountExecution(shared.plan, start, status);
  state_->Land();
  if (!status.ok()) state_->outputs.clear();
  return WithOperator(std::move(status), shared.plan.call.op->name);
}

std::vector<ExecutedOutput> Execution::TakeOutputs() { return std::move(state_->outputs); }

}  // namespace opserve
