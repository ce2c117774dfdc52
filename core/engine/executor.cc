#include "core/engine/executor.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve {
namespace {

StorageView ViewAt(const std::vector<StorageView>& storages, int index) {
  if (index < 0 || static_cast<size_t>(index) >= storages.size()) return {};
  return storages[static_cast<size_t>(index)];
}

absl::StatusOr<StorageView*> FindTensor(const OpCall& call, CallViews& views,
                                        const std::string& name) {
  const int input = call.op->FindInput(name);
  if (input >= 0 && call.has_input(input)) return &views.inputs[static_cast<size_t>(input)];
  const int output = call.op->FindOutput(name);
  if (output >= 0 && call.output(output).origin == OutputSlot::Origin::kGiven)
    return &views.outputs[static_cast<size_t>(output)];
  const std::string_view want = "an input or output that has a buffer in the executor";
  if (input < 0 && output < 0) return UnknownParameter(name, want, "an unknown name");
  return InvalidParameter(name, want, "one without a buffer");
}

}  // namespace

Executor::Executor(std::shared_ptr<Context> context, std::shared_ptr<Execution::Shared> shared,
                   CallViews views, Use use)
    : context_(std::move(context)),
      shared_(std::move(shared)),
      use_(use),
      views_(std::move(views)) {}
Executor::~Executor() = default;

const Plan& Executor::plan() const { return shared_->plan; }

absl::StatusOr<std::shared_ptr<Executor>> Executor::Create(Engine& engine,
                                                           std::shared_ptr<Context> context,
                                                           NamedCall named,
                                                           const std::vector<StorageView>& storages,
                                                           Use use) {
  const std::string& device = context->device().info().name;
  if (!named.device.empty() && named.device != device) {
    return WithOperator(InvalidParameter("device", absl::StrCat("\"", device, "\", the context's"),
                                         absl::StrCat("\"", std::string(named.device), "\"")),
                        named.op->name);
  }
  named.device = device;
  OPSERVE_ASSIGN_OR_RETURN(Plan plan, engine.MakePlan(named));
  if (plan.device != &context->device()) {
    return WithOperator(InvalidParameter("context", "one on a device of the engine", "another"),
                        named.op->name);
  }
  for (size_t i = 0; i < plan.output_storages.size(); ++i) {
    if (plan.call.outputs[i].origin != OutputSlot::Origin::kGiven) plan.output_storages[i] = -1;
  }
  CallViews views;
  for (const int index : plan.storages) views.inputs.push_back(ViewAt(storages, index));
  for (const int index : plan.output_storages) views.outputs.push_back(ViewAt(storages, index));
  absl::Status status = CheckViews(plan, *context, views);
  if (!status.ok()) return WithOperator(std::move(status), named.op->name);
  auto shared = std::make_shared<Execution::Shared>(std::move(plan), engine);
  return std::shared_ptr<Executor>(
      new Executor(std::move(context), std::move(shared), std::move(views), use));
}

absl::Status Executor::Rebind(std::span<const std::pair<std::string, StorageView>> tensors) {
  if (use_ != Use::kRepeatable)
    return InvalidParameter("executor", "a repeatable one", "one that is executed once");
  const OpCall& call = plan().call;
  CallViews bound = views_;
  std::vector<const StorageView*> seen;
  for (const auto& [name, view] : tensors) {
    OPSERVE_ASSIGN_OR_RETURN(StorageView * place, FindTensor(call, bound, name));
    if (std::find(seen.begin(), seen.end(), place) != seen.end())
      return InvalidParameter(name, "it once", "it twice");
    seen.push_back(place);
    *place = view;
  }
  OPSERVE_RETURN_IF_ERROR(CheckViews(plan(), *context_, bound));
  views_ = std::move(bound);
  return absl::OkStatus();
}

absl::Status Executor::SetTensors(std::span<const std::pair<std::string, StorageView>> tensors) {
  MutexLock lock(mutex_);
  return WithOperator(Rebind(tensors), plan().call.op->name);
}

absl::StatusOr<Execution> Executor::Start(const std::shared_ptr<Stream>& stream,
                                          std::optional<StorageView> workspace) {
  if (consumed_) {
    return InvalidParameter("executor",
                            "an executor that was not executed yet, or a repeatable one",
                            "one that was consumed");
  }
  consumed_ = use_ == Use::kOnce;
  if (stream == nullptr) return MissingParameter("stream", "a stream");
  if (!context_->Owns(*stream)) {
    return InvalidParameter("executor", "one of the stream's context", "another context's");
  }
  if (workspace.has_value())
    OPSERVE_RETURN_IF_ERROR(CheckWorkspace(plan(), *context_, views_, *workspace));
  OPSERVE_RETURN_IF_ERROR(shared_->TakeOff(stream));
  return Execution(shared_, context_, stream, views_, std::move(workspace).value_or(StorageView()));
}

absl::StatusOr<Execution> Executor::Begin(const std::shared_ptr<Stream>& stream,
                                          std::optional<StorageView> workspace) {
  MutexLock lock(mutex_);
  absl::StatusOr<Execution> execution = Start(stream, std::move(workspace));
  if (execution.ok()) return execution;
  return WithOperator(execution.status(), plan().call.op->name);
}

}  // namespace opserve
