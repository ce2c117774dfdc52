#include "core/engine/executor.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/engine/kernel_run.h"
#include "core/engine/staging.h"
#include "core/op/op_table.h"
#include "core/tensor/overlap.h"

namespace opserve {
namespace {

constexpr int64_t kWorkspaceAlignment = 64;

absl::Status CheckOffset(const StorageView& view, int64_t alignment, std::string_view name) {
  const int64_t size = view.buffer->size_bytes();
  if (view.offset_bytes < 0 || view.offset_bytes > size) {
    return InvalidParameter(name, absl::StrCat("an offset_bytes from 0 to the buffer's ", size),
                            absl::StrCat(view.offset_bytes));
  }
  if (view.offset_bytes % alignment == 0) return absl::OkStatus();
  return InvalidParameter(name, absl::StrCat("an offset_bytes that is a multiple of ", alignment),
                          absl::StrCat(view.offset_bytes));
}

absl::Status CheckOwner(const StorageView& view, const Context& context, std::string_view name) {
  if (context.Owns(*view.buffer)) return absl::OkStatus();
  return InvalidParameter(name, "a buffer of the executor's context", "another context's");
}

// The view holds all that `desc`, which CheckDesc accepted, reaches.
absl::Status CheckView(const StorageView& view, const TensorDesc& desc, const Context& context,
                       std::string_view name) {
  if (view.buffer == nullptr) return MissingParameter(name, "a buffer");
  OPSERVE_RETURN_IF_ERROR(CheckOwner(view, context, name));
  OPSERVE_RETURN_IF_ERROR(CheckOffset(view, static_cast<int64_t>(DTypeSize(desc.dtype)), name));
  const int64_t left = view.buffer->size_bytes() - view.offset_bytes;
  if (desc.reach_bytes() <= left) return absl::OkStatus();
  return InvalidParameter(
      name,
      absl::StrCat("at least ", desc.reach_bytes(), " bytes from offset_bytes ", view.offset_bytes,
                   " on, for ", std::string(DTypeName(desc.dtype)), ShapeToString(desc.shape),
                   " with strides ", ShapeToString(desc.strides), " and storage_offset ",
                   desc.storage_offset),
      absl::StrCat(left));
}

bool ShareBytes(const StorageView& a, const TensorDesc& a_desc, const StorageView& b,
                const TensorDesc& b_desc) {
  return a.buffer != nullptr && a.buffer == b.buffer &&
         MayOverlap({a_desc, a.offset_bytes}, {b_desc, b.offset_bytes});
}

absl::Status Overlaps(std::string_view name, std::string_view other) {
  return InvalidParameter(name, absl::StrCat("memory apart from that of ", std::string(other)),
                          "memory that overlaps it");
}

// Whether the slot is written to the caller's memory.
bool IsInPlace(const OutputSlot& slot) {
  return slot.wanted && slot.origin == OutputSlot::Origin::kGiven;
}

StorageView ViewAt(const std::vector<StorageView>& storages, int index) {
  if (index < 0 || static_cast<size_t>(index) >= storages.size()) return {};
  return storages[static_cast<size_t>(index)];
}

std::byte* AddressOf(const StorageView& view, const TensorDesc& desc) {
  if (desc.num_elements() == 0) return AddressOfNothing();
  return view.buffer->data() + view.offset_bytes;
}

}  // namespace

// What an executor and its executions know in common.
struct Executor::Shared {
  Shared(Plan planned, Engine& planner) : plan(std::move(planned)), engine(planner) {}

  // One more in flight.
  absl::Status TakeOff(const std::shared_ptr<Stream>& on) {
    MutexLock lock(mutex);
    if (in_flight > 0 && stream.lock() != on) {
      return InvalidParameter("executor", "one that is not in flight on another stream",
                              absl::StrCat("one with ", in_flight, " executions on one"));
    }
    stream = on;
    ++in_flight;
    return absl::OkStatus();
  }

  void Land() {
    MutexLock lock(mutex);
    --in_flight;
  }

  const Plan plan;
  Engine& engine;
  Mutex mutex;
  int64_t in_flight ABSL_GUARDED_BY(mutex) = 0;
  std::weak_ptr<Stream> stream ABSL_GUARDED_BY(mutex);  // of what is in flight
};

struct Execution::State {
  State(std::shared_ptr<Executor::Shared> executor, const std::shared_ptr<Context>& owner,
        const std::shared_ptr<Stream>& on, Executor::Storages tensors, StorageView brought)
      : shared(std::move(executor)),
        context(owner),
        stream(on),
        storages(std::move(tensors)),
        workspace(std::move(brought)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { Land(); }

  // Lets go of all but the outputs.
  void Land() {
    if (std::exchange(landed, true)) return;
    storages = {};
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
      output = {.name = name, .desc = slot.desc, .storage = storages.outputs[i]};
      output.wanted = slot.wanted;
      output.made = slot.wanted && !IsInPlace(slot);
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

  Scratch ScratchOfKernel() const {
    const Plan& plan = shared->plan;
    std::byte* const own = scratch == nullptr ? nullptr : scratch->data();
    if (workspace.buffer == nullptr) return ScratchAt(plan, own);
    std::byte* const brought = workspace.buffer->data() + workspace.offset_bytes;
    return {.workspace = {brought, plan.workspace_bytes}, .control = {own, plan.control_bytes}};
  }

  absl::Status RunOn(const Context& of, const Stream& on) {
    const Plan& plan = shared->plan;
    // It had its place on the stream until now; from now on others wait for it.
    std::optional<Admission::Place> place;
    if (!RunsInline(plan)) place = shared->engine.Enter(plan, of.client());
    absl::InlinedVector<const std::byte*, 4> inputs;
    for (size_t i = 0; i < plan.call.inputs.size(); ++i) {
      const std::optional<TensorDesc>& desc = plan.call.inputs[i];
      inputs.push_back(desc.has_value() ? AddressOf(storages.inputs[i], *desc) : nullptr);
    }
    absl::InlinedVector<std::byte*, 4> outs;
    for (const ExecutedOutput& output : outputs)
      outs.push_back(output.wanted ? AddressOf(output.storage, output.desc) : nullptr);
    const Scratch memory = ScratchOfKernel();
    const auto stop = [&on] { return on.is_abandoned(); };
    const Workers workers(plan.device->workers(), stop);
    OPSERVE_RETURN_IF_ERROR(RunKernel(plan, {.call = plan.call,
                                             .inputs = inputs,
                                             .outputs = outs,
                                             .workspace = memory.workspace,
                                             .control = memory.control,
                                             .workers = workers}));
    if (workers.stopped()) return MakeError({.reason = ErrorReason::kCancelled});
    return absl::OkStatus();
  }

  absl::Status Run() {
    const std::shared_ptr<Context> alive = context.lock();
    const std::shared_ptr<Stream> on = stream.lock();
    if (alive == nullptr || on == nullptr) return MakeError({.reason = ErrorReason::kCancelled});
    OPSERVE_RETURN_IF_ERROR(Lease(*alive));
    return RunOn(*alive, *on);
  }

  const std::shared_ptr<Executor::Shared> shared;
  // Not held: work that waits on a stream must not keep the stream, nor its owner.
  const std::weak_ptr<Context> context;
  const std::weak_ptr<Stream> stream;
  Executor::Storages storages;
  StorageView workspace;  // the caller's; none where the execution leases its own
  std::shared_ptr<DeviceBuffer> scratch;
  std::vector<ExecutedOutput> outputs;
  bool landed = false;
};

Execution::Execution(std::unique_ptr<State> state) : state_(std::move(state)) {}
Execution::Execution(Execution&&) noexcept = default;
Execution& Execution::operator=(Execution&&) noexcept = default;
Execution::~Execution() = default;

absl::Status Execution::Run() {
  absl::Status status = state_->Run();
  state_->Land();
  if (!status.ok()) state_->outputs.clear();
  return WithOperator(std::move(status), state_->shared->plan.call.op->name);
}

std::vector<ExecutedOutput> Execution::TakeOutputs() { return std::move(state_->outputs); }

Executor::Executor(std::shared_ptr<Context> context, std::shared_ptr<Shared> shared,
                   Storages storages, Use use)
    : context_(std::move(context)),
      shared_(std::move(shared)),
      use_(use),
      storages_(std::move(storages)) {}
Executor::~Executor() = default;

const Plan& Executor::plan() const { return shared_->plan; }

absl::Status Executor::CheckStorages(const OpCall& call, const Context& context,
                                     const Storages& storages) {
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.inputs[i].has_value()) continue;
    OPSERVE_RETURN_IF_ERROR(
        CheckView(storages.inputs[i], *call.inputs[i], context, call.op->inputs[i].name));
  }
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (!IsInPlace(call.outputs[i])) continue;
    OPSERVE_RETURN_IF_ERROR(
        CheckView(storages.outputs[i], call.outputs[i].desc, context, call.op->outputs[i].name));
  }
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (IsInPlace(call.outputs[i])) OPSERVE_RETURN_IF_ERROR(CheckApart(call, storages, i));
  }
  return absl::OkStatus();
}

absl::Status Executor::CheckApart(const OpCall& call, const Storages& storages, size_t output) {
  const StorageView& view = storages.outputs[output];
  const TensorDesc& desc = call.outputs[output].desc;
  const std::string_view name = call.op->outputs[output].name;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.inputs[i].has_value() && ShareBytes(view, desc, storages.inputs[i], *call.inputs[i]))
      return Overlaps(name, call.op->inputs[i].name);
  }
  for (size_t i = 0; i < output; ++i) {
    if (!IsInPlace(call.outputs[i])) continue;
    if (ShareBytes(view, desc, storages.outputs[i], call.outputs[i].desc))
      return Overlaps(name, call.op->outputs[i].name);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Executor>> Executor::Create(Engine& engine,
                                                           std::shared_ptr<Context> context,
                                                           NamedCall named,
                                                           const std::vector<StorageView>& storages,
                                                           Use use) {
  OPSERVE_ASSIGN_OR_RETURN(const Operator* op, FindOperator(named.op));
  const std::string& device = context->device().info().name;
  if (!named.device.empty() && named.device != device) {
    return WithOperator(InvalidParameter("device", absl::StrCat("\"", device, "\", the context's"),
                                         absl::StrCat("\"", std::string(named.device), "\"")),
                        op->name);
  }
  named.device = device;
  OPSERVE_ASSIGN_OR_RETURN(Plan plan, engine.MakePlan(named));
  if (plan.device != &context->device()) {
    return WithOperator(InvalidParameter("context", "one on a device of the engine", "another"),
                        op->name);
  }
  Storages bound;
  for (const int index : plan.storages) bound.inputs.push_back(ViewAt(storages, index));
  for (const int index : plan.output_storages) bound.outputs.push_back(ViewAt(storages, index));
  absl::Status status = CheckStorages(plan.call, *context, bound);
  if (!status.ok()) return WithOperator(std::move(status), op->name);
  return std::shared_ptr<Executor>(new Executor(std::move(context),
                                                std::make_shared<Shared>(std::move(plan), engine),
                                                std::move(bound), use));
}

absl::StatusOr<StorageView*> Executor::FindTensor(const OpCall& call, Storages& storages,
                                                  const std::string& name) {
  const int input = call.op->FindInput(name);
  if (input >= 0 && call.has_input(input)) return &storages.inputs[static_cast<size_t>(input)];
  const int output = call.op->FindOutput(name);
  if (output >= 0 && call.output(output).origin == OutputSlot::Origin::kGiven)
    return &storages.outputs[static_cast<size_t>(output)];
  return InvalidParameter(name, "a tensor that the executor has in a buffer",
                          input < 0 && output < 0 ? "an unknown name" : "one that it has not");
}

absl::Status Executor::Rebind(std::span<const std::pair<std::string, StorageView>> tensors) {
  if (use_ != Use::kRepeatable)
    return InvalidParameter("executor", "a repeatable one", "one that is executed once");
  const OpCall& call = plan().call;
  Storages bound = storages_;
  std::vector<const StorageView*> seen;
  for (const auto& [name, view] : tensors) {
    OPSERVE_ASSIGN_OR_RETURN(StorageView * place, FindTensor(call, bound, name));
    if (std::find(seen.begin(), seen.end(), place) != seen.end())
      return InvalidParameter(name, "it once", "it twice");
    seen.push_back(place);
    *place = view;
  }
  OPSERVE_RETURN_IF_ERROR(CheckStorages(call, *context_, bound));
  storages_ = std::move(bound);
  return absl::OkStatus();
}

absl::Status Executor::SetTensors(std::span<const std::pair<std::string, StorageView>> tensors) {
  MutexLock lock(mutex_);
  return WithOperator(Rebind(tensors), plan().call.op->name);
}

absl::Status Executor::CheckWorkspace(const StorageView& workspace) const {
  const auto bytes = static_cast<int64_t>(plan().workspace_bytes);
  if (workspace.buffer == nullptr) {
    if (bytes == 0) return absl::OkStatus();
    return MissingParameter("workspace", absl::StrCat("a buffer of >= ", bytes, " bytes"));
  }
  OPSERVE_RETURN_IF_ERROR(CheckOwner(workspace, *context_, "workspace"));
  OPSERVE_RETURN_IF_ERROR(CheckOffset(workspace, kWorkspaceAlignment, "workspace"));
  const int64_t left = workspace.buffer->size_bytes() - workspace.offset_bytes;
  if (left < bytes) {
    return InvalidParameter("workspace", absl::StrCat(">= ", bytes, " bytes"), absl::StrCat(left));
  }
  const OpCall& call = plan().call;
  const Dims size = {bytes};
  const TensorDesc desc = TensorDesc::Dense(DType::kUint8, size);
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.inputs[i].has_value() &&
        ShareBytes(workspace, desc, storages_.inputs[i], *call.inputs[i]))
      return Overlaps("workspace", call.op->inputs[i].name);
  }
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (IsInPlace(call.outputs[i]) &&
        ShareBytes(workspace, desc, storages_.outputs[i], call.outputs[i].desc))
      return Overlaps("workspace", call.op->outputs[i].name);
  }
  return absl::OkStatus();
}

absl::StatusOr<Execution> Executor::Start(const std::shared_ptr<Stream>& stream,
                                          std::optional<StorageView> workspace) {
  if (consumed_) {
    return InvalidParameter("executor", "one that was not executed yet, or is repeatable",
                            "one that was consumed");
  }
  consumed_ = use_ == Use::kOnce;
  if (stream == nullptr) return MissingParameter("stream", "a stream");
  if (!context_->Owns(*stream)) {
    return InvalidParameter("executor", "one of the stream's context", "another context's");
  }
  if (workspace.has_value()) OPSERVE_RETURN_IF_ERROR(CheckWorkspace(*workspace));
  OPSERVE_RETURN_IF_ERROR(shared_->TakeOff(stream));
  return Execution(std::make_unique<Execution::State>(
      shared_, context_, stream, storages_, std::move(workspace).value_or(StorageView())));
}

absl::StatusOr<Execution> Executor::Begin(const std::shared_ptr<Stream>& stream,
                                          std::optional<StorageView> workspace) {
  MutexLock lock(mutex_);
  absl::StatusOr<Execution> execution = Start(stream, std::move(workspace));
  if (execution.ok()) return execution;
  return WithOperator(execution.status(), plan().call.op->name);
}

}  // namespace opserve
