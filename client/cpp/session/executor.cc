#include <utility>

#include <opserve/session.h>

#include "absl/strings/str_cat.h"
#include "client/cpp/session/pending_plan.h"
#include "client/cpp/session/session_command.h"
#include "client/cpp/session/transfer.h"
#include "client/cpp/wire/answered_outputs.h"
#include "client/cpp/wire/call_messages.h"
#include "core/base/status_macros.h"

namespace opserve::client {
namespace {

void FillDeviceTensor(const std::string& name, const DeviceTensor& tensor, v1::Tensor& message) {
  FillTensor(name, tensor.desc, message);
  FillBufferView(tensor, *message.mutable_buffer());
}

absl::StatusOr<ExecutorPlan> ReadExecutorPlan(const SessionAnswer& answer,
                                              const AskedOutputs& asked) {
  const v1::ExecutorInfo& message = answer.message.executor();
  ExecutorPlan plan;
  plan.workspace_bytes = message.workspace_bytes();
  OPSERVE_ASSIGN_OR_RETURN(plan.outputs,
                           ReadPlannedOutputs("ExecutorInfo", message.outputs(), asked));
  return plan;
}

absl::StatusOr<ExecutorPlan> AwaitPlan(const SessionChannel& channel,
                                       const PendingPlan::Answer& answer, const std::string& op,
                                       const CallOptions& options) {
  std::optional<absl::StatusOr<ExecutorPlan>> plan = answer.Wait(channel.Deadline(options.timeout));
  return plan.has_value() ? *std::move(plan)
                          : channel.TooLate(absl::StrCat("CreateExecutor of ", op));
}

Command SetTensorsCommand(const RemoteObject& executor, const std::string& op,
                          std::span<const std::pair<std::string, DeviceTensor>> tensors) {
  Command command = executor.NewCommand(absl::StrCat("SetTensors of ", op));
  v1::SetTensorsCommand& set = *command.message.mutable_set_tensors();
  set.set_executor(executor.id());
  for (const auto& [name, tensor] : tensors) {
    v1::Rebinding& rebinding = *set.add_tensors();
    rebinding.set_name(name);
    FillBufferView(tensor, *rebinding.mutable_buffer());
  }
  return command;
}

}  // namespace

Executor Context::CreateExecutor(const DeviceCall& call, ExecutorUse use, PlanWanted wanted) {
  const auto plan = std::make_shared<PendingPlan>(call.op());
  auto object = std::make_shared<RemoteObject>(RemoteObject::Kind::kExecutor,
                                               object_->shared_channel(), object_);
  Command command = object->NewCommand(absl::StrCat("CreateExecutor of ", call.op()));
  command.may_wait = wanted == PlanWanted::kLater;
  v1::CreateExecutorCommand& create = *command.message.mutable_create_executor();
  create.set_executor(object->id());
  create.set_context(object_->id());
  create.set_repeatable(use == ExecutorUse::kRepeatable);
  FillCall(call.call(), *create.mutable_call());
  for (const auto& [name, tensor] : call.inputs()) {
    FillDeviceTensor(name, tensor, *create.mutable_call()->add_inputs());
    plan->Keep(name, tensor.buffer);
  }
  for (const auto& [name, tensor] : call.outputs()) {
    FillDeviceTensor(name, tensor, *create.mutable_call()->add_outputs());
    plan->Keep(name, tensor.buffer);
  }
  object->channel().Send(
      std::move(command), [to = plan->answer(), asked = AskedOf(call)](SessionAnswer& answer) {
        to->Set(answer.status.ok() ? ReadExecutorPlan(answer, asked)
                                   : absl::StatusOr<ExecutorPlan>(answer.status));
      });
  return Executor(std::move(object), plan);
}

absl::StatusOr<ExecutorPlan> Executor::plan(const CallOptions& options) const {
  return AwaitPlan(object_->channel(), *plan_->answer(), plan_->op(), options);
}

std::function<absl::Status(const CallOptions&)> Executor::Outcome() const {
  return [channel = object_->shared_channel(), answer = plan_->answer(),
          op = plan_->op()](const CallOptions& options) {
    return AwaitPlan(*channel, *answer, op, options).status();
  };
}

absl::StatusOr<int64_t> Executor::workspace_bytes(const CallOptions& options) const {
  OPSERVE_ASSIGN_OR_RETURN(const ExecutorPlan known, plan(options));
  return known.workspace_bytes;
}

void Executor::SetTensors(std::span<const std::pair<std::string, DeviceTensor>> tensors) {
  object_->channel().Send(SetTensorsCommand(*object_, plan_->op(), tensors));
  for (const auto& [name, tensor] : tensors) plan_->Keep(name, tensor.buffer);
}

absl::Status Executor::SetTensorsAndWait(
    std::span<const std::pair<std::string, DeviceTensor>> tensors, const CallOptions& options) {
  OPSERVE_RETURN_IF_ERROR(
      SendAndWait<bool>(object_->channel(), SetTensorsCommand(*object_, plan_->op(), tensors),
                        options, [](const SessionAnswer&) -> absl::StatusOr<bool> { return true; })
          .status());
  for (const auto& [name, tensor] : tensors) plan_->Keep(name, tensor.buffer);
  return absl::OkStatus();
}

void Executor::SetTensor(std::string_view name, const DeviceTensor& tensor) {
  const std::pair<std::string, DeviceTensor> one(name, tensor);
  SetTensors({&one, 1});
}

}  // namespace opserve::client
