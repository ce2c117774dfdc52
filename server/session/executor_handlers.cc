// The two phases on buffers.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "server/codec/call_codec.h"
#include "server/codec/output_codec.h"
#include "server/session/handlers.h"
#include "server/session/pump.h"

namespace opserve::server {
namespace {

absl::StatusOr<StorageView> ResolveView(SessionState& state, const v1::BufferView& view,
                                        uint64_t context) {
  OPSERVE_ASSIGN_OR_RETURN(const Owned<DeviceBuffer>* buffer, state.buffers.Find(view.buffer()));
  if (buffer->context != context) {
    return InvalidParameter("buffer", absl::StrCat("one of context ", context),
                            absl::StrCat("one of context ", buffer->context));
  }
  return StorageView{buffer->object, view.offset_bytes()};
}

absl::StatusOr<Owned<Executor>> MakeExecutor(SessionState& state,
                                             const v1::CreateExecutorCommand& command) {
  OPSERVE_RETURN_IF_ERROR(state.CheckHandles("executor"));
  OPSERVE_ASSIGN_OR_RETURN(std::shared_ptr<Context> * context,
                           state.contexts.Find(command.context()));
  OPSERVE_ASSIGN_OR_RETURN(ExecutorCall call, DecodeExecutorCall(command.call()));
  std::vector<StorageView> storages;
  storages.reserve(call.views.size());
  for (const v1::BufferView& view : call.views) {
    absl::StatusOr<StorageView> storage = ResolveView(state, view, command.context());
    if (!storage.ok()) return WithOperator(storage.status(), call.named.op->name);
    storages.push_back(*storage);
  }
  const auto use = command.repeatable() ? Executor::Use::kRepeatable : Executor::Use::kOnce;
  Owned<Executor> executor{.context = command.context()};
  OPSERVE_ASSIGN_OR_RETURN(executor.object,
                           Executor::Create(state.engine, *context, call.named, storages, use));
  OPSERVE_ASSIGN_OR_RETURN(executor.memory,
                           state.TakeMemoryFor(executor.object->plan(), "executor"));
  return executor;
}

Answer DescribePlan(const Plan& plan) {
  Answer answer;
  v1::ExecutorInfo& planned = *answer.header.mutable_executor();
  planned.set_workspace_bytes(static_cast<int64_t>(plan.workspace_bytes));
  EncodeOutputs(plan.call, *planned.mutable_outputs());
  return answer;
}

enum class Sent : uint8_t { kNone, kMade, kAll };

// Which outputs the execution sends back. An output that is sent must be dense.
absl::StatusOr<Sent> OutputsToSend(const Plan& plan, bool all) {
  Sent sent = all ? Sent::kAll : Sent::kNone;
  for (size_t i = 0; i < plan.call.outputs.size(); ++i) {
    const OutputSlot& output = plan.call.outputs[i];
    if (!output.wanted) continue;
    if (plan.output_storages[i] < 0 && sent == Sent::kNone) sent = Sent::kMade;
    if (all && !output.desc.IsDense()) {
      return InvalidParameter(plan.call.op->outputs[i].name, "a dense output, as it is to be sent",
                              "strides");
    }
  }
  return sent;
}

std::vector<Pump::Source> SourcesOf(std::vector<ExecutedOutput> outputs, Sent sent) {
  std::vector<Pump::Source> sources;
  for (ExecutedOutput& output : outputs) {
    if (!output.wanted || (!output.made && sent != Sent::kAll)) continue;
    const int64_t offset =
        output.storage.offset_bytes +
        output.desc.storage_offset * static_cast<int64_t>(DTypeSize(output.desc.dtype));
    const int64_t bytes = output.desc.size_bytes();
    MemoryRange memory{.start = output.storage.buffer->data(),
                       .row_bytes = bytes,
                       .rows = 1,
                       .stride_bytes = bytes};
    if (bytes > 0) memory.start += offset;
    sources.push_back({std::string(output.name), memory, std::move(output.storage.buffer)});
  }
  return sources;
}

absl::Status RunFor(const Ticket& ticket, Execution& execution) {
  return execution.Run([&ticket] { return ticket.CheckGoesOn(); });
}

void EnqueuePlain(Stream& stream, Execution execution, std::shared_ptr<Ticket> ticket,
                  bool is_quick) {
  const uint64_t id = ticket->id();
  // `done` keeps the ticket.
  auto run = [execution = std::move(execution), &on = *ticket]() mutable {
    return RunFor(on, execution);
  };
  stream.Enqueue(Stream::Command{.id = id,
                                 .run = std::move(run),
                                 .done = FinishWith(std::move(ticket)),
                                 .is_quick = is_quick});
}

struct Sending {
  Device& device;
  std::shared_ptr<MemoryPool> staging;
  int64_t chunk_bytes = 0;
  Sent sent = Sent::kMade;
};

// Outputs that only this execution has leave beside the stream's later work; the stream waits for
// those in buffers.
void EnqueueAndSend(Stream& stream, Execution execution, const std::shared_ptr<Ticket>& ticket,
                    Sending sending) {
  const bool waits = sending.sent == Sent::kAll;
  auto start = [execution = std::move(execution), ticket, sending = std::move(sending),
                waits](absl::AnyInvocable<void(absl::Status)> finished) mutable {
    const absl::Status status = RunFor(*ticket, execution);
    if (!status.ok()) return finished(status);
    if (!waits) {
      finished(absl::OkStatus());
      finished = FinishWith(ticket);
    }
    Pump::Start(sending.device, sending.staging, ticket,
                SourcesOf(execution.TakeOutputs(), sending.sent), sending.chunk_bytes,
                std::move(finished));
  };
  stream.Enqueue(Stream::AsyncCommand{.id = ticket->id(),
                                      .start = std::move(start),
                                      .done = [ticket, waits](const absl::Status& status) {
                                        if (waits || !status.ok()) ticket->Finish(status);
                                      }});
}

}  // namespace

absl::Status Handle(SessionState& state, const v1::CreateExecutorCommand& command, Taken& taken) {
  OPSERVE_RETURN_IF_ERROR(state.executors.CheckNew(command.executor()));
  absl::StatusOr<Owned<Executor>> executor = MakeExecutor(state, command);
  if (!executor.ok()) {
    state.executors.AddFailed(command.executor(), taken.ticket->id(), executor.status());
    return executor.status();
  }
  taken.ticket->Finish(absl::OkStatus(), DescribePlan(executor->object->plan()));
  state.executors.Add(command.executor(), *std::move(executor));
  return absl::OkStatus();
}

absl::Status Handle(SessionState& state, const v1::SetTensorsCommand& command, Taken& taken) {
  OPSERVE_ASSIGN_OR_RETURN(const Owned<Executor>* executor,
                           state.executors.Find(command.executor()));
  std::vector<std::pair<std::string, StorageView>> tensors;
  for (const v1::Rebinding& rebinding : command.tensors()) {
    OPSERVE_ASSIGN_OR_RETURN(StorageView view,
                             ResolveView(state, rebinding.buffer(), executor->context));
    tensors.emplace_back(rebinding.name(), std::move(view));
  }
  OPSERVE_RETURN_IF_ERROR(executor->object->SetTensors(tensors));
  taken.ticket->Finish(absl::OkStatus());
  return absl::OkStatus();
}

absl::Status Handle(SessionState& state, const v1::RunExecutorCommand& command, Taken& taken) {
  OPSERVE_ASSIGN_OR_RETURN(const Owned<Executor>* executor,
                           state.executors.Find(command.executor()));
  OPSERVE_ASSIGN_OR_RETURN(const Owned<Stream>* stream, state.streams.Find(command.stream()));
  OPSERVE_RETURN_IF_ERROR(CheckSameContext(executor->context, stream->context, "executor"));
  OPSERVE_ASSIGN_OR_RETURN(const int64_t chunk_bytes,
                           ResolveChunkBytes(state.limits, command.chunk_bytes()));
  const Plan& plan = executor->object->plan();
  OPSERVE_ASSIGN_OR_RETURN(const Sent sent, OutputsToSend(plan, command.send_outputs()));
  if (sent != Sent::kNone && taken.ticket->is_quiet())
    return InvalidParameter("quiet", "false for a command that sends outputs", "true");
  std::optional<StorageView> workspace;
  if (command.has_workspace()) {
    OPSERVE_ASSIGN_OR_RETURN(workspace, ResolveView(state, command.workspace(), stream->context));
  }
  OPSERVE_ASSIGN_OR_RETURN(Execution execution,
                           executor->object->Begin(stream->object, std::move(workspace)));
  if (sent == Sent::kNone) {
    EnqueuePlain(*stream->object, std::move(execution), taken.ticket, RunsInline(plan));
    return absl::OkStatus();
  }
  EnqueueAndSend(*stream->object, std::move(execution), taken.ticket,
                 {*plan.device, state.staging, chunk_bytes, sent});
  return absl::OkStatus();
}

absl::Status Handle(SessionState& state, const v1::DestroyExecutorCommand& command, Taken& taken) {
  OPSERVE_RETURN_IF_ERROR(state.executors.Erase(command.executor()));
  taken.ticket->Finish(absl::OkStatus());
  return absl::OkStatus();
}

}  // namespace opserve::server
