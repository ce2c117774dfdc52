#include <algorithm>
#include <utility>

#include <opserve/session.h>

#include "absl/strings/str_cat.h"
#include "client/cpp/session/execute_command.h"
#include "client/cpp/session/incoming_outputs.h"
#include "client/cpp/session/pending_plan.h"
#include "client/cpp/session/session_command.h"
#include "client/cpp/session/transfer.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::client {
namespace {

absl::Status SameSize(const Rows& from, const Rows& to) {
  if (from.size_bytes() == to.size_bytes()) return absl::OkStatus();
  return InvalidParameter("to", absl::StrCat(from.size_bytes(), " bytes, as `from` has"),
                          absl::StrCat(to.size_bytes()));
}

Command RunExecutorCommand(const RemoteObject& stream, const std::string& op, uint64_t executor,
                           const DeviceTensor& workspace, absl::Duration timeout) {
  Command command = stream.NewCommand(absl::StrCat("RunExecutor of ", op), timeout);
  v1::RunExecutorCommand& run = *command.message.mutable_run_executor();
  run.set_executor(executor);
  run.set_stream(stream.id());
  if (workspace.buffer.object() != nullptr) FillBufferView(workspace, *run.mutable_workspace());
  return command;
}

Command SynchronizeCommand(const RemoteObject& stream) {
  Command command = stream.NewCommand("Synchronize");
  command.message.mutable_synchronize()->set_stream(stream.id());
  return command;
}

}  // namespace

Stream Stream::WithTimeout(absl::Duration timeout) const {
  Stream stream = *this;
  stream.timeout_ = timeout;
  return stream;
}

absl::Status Stream::Copy(const DeviceTensor& from, const DeviceTensor& to) {
  OPSERVE_ASSIGN_OR_RETURN(const Rows source, RowsOf(from, "from"));
  OPSERVE_ASSIGN_OR_RETURN(const Rows destination, RowsOf(to, "to"));
  OPSERVE_RETURN_IF_ERROR(SameSize(source, destination));
  Command command = object_->NewCommand("Copy", timeout_);
  v1::CopyCommand& copy = *command.message.mutable_copy();
  FillRange(from, source, *copy.mutable_source());
  FillRange(to, destination, *copy.mutable_destination());
  copy.set_stream(object_->id());
  object_->channel().Send(std::move(command));
  return absl::OkStatus();
}

absl::Status Stream::FillPattern(const DeviceTensor& to, DType dtype,
                                 std::span<const std::byte> pattern) {
  if (to.desc.dtype != dtype) {
    return InvalidParameter("to", absl::StrCat("a tensor of ", ToAbsl(DTypeName(dtype))),
                            DTypeName(to.desc.dtype));
  }
  OPSERVE_ASSIGN_OR_RETURN(const Rows rows, RowsOf(to, "to"));
  Command command = object_->NewCommand("Fill", timeout_);
  v1::FillCommand& fill = *command.message.mutable_fill();
  FillRange(to, rows, *fill.mutable_destination());
  fill.set_pattern(pattern.data(), pattern.size());
  fill.set_stream(object_->id());
  object_->channel().Send(std::move(command));
  return absl::OkStatus();
}

void Stream::Record(const Event& event) {
  Command command = object_->NewCommand("Record");
  command.message.mutable_record_event()->set_event(event.object_->id());
  command.message.mutable_record_event()->set_stream(object_->id());
  object_->channel().Send(std::move(command));
}

void Stream::Wait(const Event& event) {
  Command command = object_->NewCommand("Wait", timeout_);
  command.message.mutable_wait_event()->set_event(event.object_->id());
  command.message.mutable_wait_event()->set_stream(object_->id());
  object_->channel().Send(std::move(command));
}

CommandHandle Stream::Execute(const Executor& executor, const DeviceBuffer& workspace,
                              int64_t workspace_offset_bytes) {
  const uint64_t id = object_->channel().Send(
      RunExecutorCommand(*object_, executor.plan_->op(), executor.object_->id(),
                         {.buffer = workspace, .offset_bytes = workspace_offset_bytes}, timeout_));
  return {object_->shared_channel(), id};
}

absl::StatusOr<ExecuteResult> Stream::ExecuteAndReceive(const Executor& executor,
                                                        ReceiveOptions options) {
  SessionChannel& channel = object_->channel();
  const absl::Time deadline = channel.Deadline(options.timeout);
  OPSERVE_ASSIGN_OR_RETURN(ExecutorPlan plan, executor.plan({.timeout = options.timeout}));
  const auto outputs = std::make_shared<IncomingOutputs>(std::move(options.sink));
  OPSERVE_RETURN_IF_ERROR(outputs->Expect(std::move(plan.outputs), options.max_bytes));
  Command command = RunExecutorCommand(
      *object_, executor.plan_->op(), executor.object_->id(),
      {.buffer = options.workspace, .offset_bytes = options.workspace_offset_bytes},
      std::min(timeout_, options.timeout));
  command.message.mutable_run_executor()->set_send_outputs(true);
  command.message.mutable_run_executor()->set_chunk_bytes(ChunkBytes(channel.info()));
  const std::string meaning = command.meaning;
  const uint64_t id = channel.Send(std::move(command),
                                   [outputs](SessionAnswer& answer) { outputs->OnAnswer(answer); });
  std::optional<absl::StatusOr<ExecuteResult>> result = outputs->Wait(deadline);
  if (result.has_value()) return *std::move(result);
  channel.CancelCommand(id);
  return channel.TooLate(meaning);
}

absl::StatusOr<ExecuteResult> Stream::Execute(const Call& call, const CallOptions& options) {
  return ExecuteAndWait(object_->channel(), call, {object_->id(), timeout_}, options);
}

CommandHandle Stream::ExecuteAsync(const Call& call, Done<ExecuteResult> done) {
  return {object_->shared_channel(),
          SendExecute(object_->channel(), call, {object_->id(), timeout_}, std::move(done))};
}

absl::Status Stream::Synchronize(const CallOptions& options) {
  return SynchronizeAndWait(object_->shared_channel(), SynchronizeCommand(*object_), object_->id(),
                            object_->context_id(), object_->channel().Deadline(options.timeout));
}

void Stream::SynchronizeAsync(absl::AnyInvocable<void(absl::Status)> done) {
  SendSynchronize(object_->shared_channel(), SynchronizeCommand(*object_), object_->id(),
                  object_->context_id(), std::move(done));
}

absl::Status Stream::TakeFailure() {
  return object_->channel().TakeFailure(object_->id(), object_->context_id());
}

absl::StatusOr<bool> Stream::Query(const CallOptions& options) const {
  Command command = object_->NewCommand("Query of a stream");
  command.message.mutable_query_stream()->set_stream(object_->id());
  return SendAndWait<bool>(object_->channel(), std::move(command), options,
                           [](const SessionAnswer& answer) -> absl::StatusOr<bool> {
                             return answer.message.stream().idle();
                           });
}

}  // namespace opserve::client
