// Calls that bring their bytes: whole, or chunk by chunk.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "server/codec/call_codec.h"
#include "server/codec/output_codec.h"
#include "server/session/handlers.h"

namespace opserve::server {
namespace {

// Room in a message besides its bulk.
constexpr int64_t kFramingBytes = 4096;

// An ExecuteCommand from when it was taken to its answer.
struct OneShotCall {
  OneShot shot;
  std::shared_ptr<const PlannedCall> planned;
  std::shared_ptr<const void> owner;
  CallTimes times;
};

absl::StatusOr<std::string_view> DeviceOfStream(SessionState& state, uint64_t stream_id) {
  OPSERVE_ASSIGN_OR_RETURN(const Owned<Stream>* stream, state.streams.Find(stream_id));
  OPSERVE_ASSIGN_OR_RETURN(std::shared_ptr<Context> * context,
                           state.contexts.Find(stream->context));
  return (*context)->device().info().name;
}

// Everything that says what the call is, but its raw bytes. No message begins like it.
std::string KeyOf(const v1::ExecuteCommand& command, std::string_view device) {
  std::string key(1, static_cast<char>(command.output_encoding()));
  key.append(device).push_back('\0');
  command.call().AppendToString(&key);
  return key;
}

absl::StatusOr<std::shared_ptr<const PlannedCall>> FindPlan(SessionState& state,
                                                            const v1::ExecuteCommand& command,
                                                            const std::vector<Fragments>& raw) {
  std::string_view device;
  if (command.stream() != 0) {
    OPSERVE_ASSIGN_OR_RETURN(device, DeviceOfStream(state, command.stream()));
  }
  OPSERVE_ASSIGN_OR_RETURN(const v1::TensorEncoding encoding,
                           DecodeEncoding(command.output_encoding()));
  std::string key = KeyOf(command, device);
  std::shared_ptr<const PlannedCall> known = state.plans.Find(key, raw.size());
  if (known != nullptr) return known;
  OPSERVE_ASSIGN_OR_RETURN(
      std::shared_ptr<const PlannedCall> planned,
      PlannedCall::Make(state.engine, command.call(), raw, encoding, TensorData::kMessage, device));
  state.plans.Put(std::move(key), raw.size(), planned);
  return planned;
}

absl::StatusOr<std::shared_ptr<OneShotCall>> PrepareOneShot(SessionState& state,
                                                            const v1::ExecuteCommand& command,
                                                            Taken& taken) {
  auto call = std::make_shared<OneShotCall>();
  OPSERVE_ASSIGN_OR_RETURN(call->planned, FindPlan(state, command, taken.command.raw));
  HeldRegions none;  // it brings all its bytes
  OPSERVE_RETURN_IF_ERROR(
      call->planned->Assemble(std::move(taken.command.raw), nullptr, call->shot, none));
  call->shot.client = state.client;
  call->shot.times = &call->times;
  call->shot.deadline = taken.ticket->deadline();
  call->owner = taken.command.owner;
  const Plan& plan = *call->shot.plan;
  OPSERVE_RETURN_IF_ERROR(CheckStorages(plan, call->shot.storages));
  OPSERVE_RETURN_IF_ERROR(
      CheckAnswerSize(plan.call, call->planned->form().max_response_bytes() + kFramingBytes,
                      state.limits.max_message_bytes));
  return call;
}

absl::Status Deliver(OneShotCall& call, Ticket& ticket, absl::StatusOr<Outputs> outputs) {
  if (!outputs.ok()) {
    ticket.Finish(outputs.status());
    return outputs.status();
  }
  Answer answer;
  const ResultForm& form = call.planned->form();
  v1::ExecuteOutputs& executed = *answer.header.mutable_outputs();
  answer.raw = form.FillTensors(*std::move(outputs), *executed.mutable_outputs());
  if (form.reports_execution()) *executed.mutable_execution() = form.Execution(call.times);
  ticket.Finish(absl::OkStatus(), std::move(answer));
  return absl::OkStatus();
}

// In the stream's turn, on its worker.
absl::Status EnqueueOneShot(SessionState& state, uint64_t stream_id,
                            const std::shared_ptr<OneShotCall>& call,
                            const std::shared_ptr<Ticket>& ticket) {
  OPSERVE_ASSIGN_OR_RETURN(const Owned<Stream>* stream, state.streams.Find(stream_id));
  OPSERVE_ASSIGN_OR_RETURN(std::shared_ptr<Context> * context,
                           state.contexts.Find(stream->context));
  if (call->shot.plan->device != &(*context)->device()) {
    return InvalidParameter("device", (*context)->device().info().name + ", the stream's",
                            call->shot.plan->device->info().name);
  }
  call->shot.cancelled = [ticket, weak = std::weak_ptr<Stream>(stream->object)] {
    const std::shared_ptr<Stream> own = weak.lock();
    return ticket->is_cancelled() || own == nullptr || own->is_abandoned();
  };
  auto run = [call, ticket, &engine = state.engine, taken = state.engine.clock().Now()] {
    absl::Status result;
    call->times.queued = engine.clock().Now() - taken;
    call->shot.done = [&](absl::StatusOr<Outputs> outputs) {
      result = Deliver(*call, *ticket, std::move(outputs));
    };
    engine.RunHere(std::move(call->shot));
    return result;
  };
  stream->object->Enqueue(
      Stream::Command{.id = ticket->id(), .run = std::move(run), .done = FinishWith(ticket)});
  return absl::OkStatus();
}

ChunkedInputs FindChunked(const v1::Call& call, const Operator& op) {
  ChunkedInputs chunked(op.inputs.size(), false);
  for (const v1::Tensor& tensor : call.inputs()) {
    const int index = op.FindInput(tensor.name());
    if (index >= 0) chunked[static_cast<size_t>(index)] = tensor.has_chunked();
  }
  return chunked;
}

absl::Status CheckWholeInputs(const ChunkedCall::Declared& declared) {
  const OpCall& call = declared.plan.call;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.has_input(static_cast<int>(i)) || declared.chunked[i]) continue;
    const auto storage = static_cast<size_t>(declared.plan.storages[i]);
    OPSERVE_RETURN_IF_ERROR(CheckStorage(
        *call.inputs[i], static_cast<int64_t>(declared.storages.fragments[storage].size_bytes()),
        call.op->inputs[i].name));
  }
  return absl::OkStatus();
}

absl::StatusOr<ChunkedCall::Declared> Declare(SessionState& state, const v1::Call& call,
                                              Taken& taken) {
  ChunkedCall::Declared declared;
  OPSERVE_ASSIGN_OR_RETURN(const NamedCall named,
                           DecodeCall(call, TensorData::kMessageOrChunks, taken.command.raw));
  declared.chunked = FindChunked(call, *named.op);
  OPSERVE_ASSIGN_OR_RETURN(declared.plan, state.engine.MakePiecewisePlan(named, declared.chunked));
  OPSERVE_ASSIGN_OR_RETURN(declared.storages, DecodeStorages(call, std::move(taken.command.raw)));
  OPSERVE_RETURN_IF_ERROR(CheckWholeInputs(declared));
  const int64_t held = ChunkedCall::HeldBytes(declared, state.limits.max_skew_bytes);
  OPSERVE_ASSIGN_OR_RETURN(declared.share, state.budget->Take(held, "max_skew_bytes"));
  // It is the host's memory as well.
  OPSERVE_RETURN_IF_ERROR(state.memory->Take(held, "max_skew_bytes"));
  declared.chunks = HostShare(state.memory, held);
  OPSERVE_ASSIGN_OR_RETURN(declared.memory, state.TakeMemoryFor(declared.plan, "command"));
  declared.owner = taken.command.owner;
  OPSERVE_RETURN_IF_ERROR(declared.GatherWholeInputs(state.client));
  return declared;
}

}  // namespace

absl::Status Handle(SessionState& state, const v1::ExecuteCommand& command, Taken& taken) {
  OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<OneShotCall> call,
                           PrepareOneShot(state, command, taken));
  // What the answer will hold is under way as much as what came, and so is the plan of a program,
  // which is many times as large as its command.
  const Plan& plan = *call->shot.plan;
  taken.ticket->Hold(plan.call.output_bytes() + (plan.program != nullptr ? HostBytes(plan) : 0));
  if (command.stream() != 0) return EnqueueOneShot(state, command.stream(), call, taken.ticket);
  call->shot.cancelled = [ticket = taken.ticket] { return ticket->is_cancelled(); };
  call->shot.done = [call, ticket = taken.ticket](absl::StatusOr<Outputs> outputs) {
    Deliver(*call, *ticket, std::move(outputs)).IgnoreError();
  };
  // The call holds on to itself until it is done.
  state.engine.Submit(std::move(call->shot));
  return absl::OkStatus();
}

absl::Status Handle(SessionState& state, const v1::ExecuteChunkedCommand& command, Taken& taken) {
  OPSERVE_RETURN_IF_ERROR(state.CheckHandles("command"));
  absl::StatusOr<ChunkedCall::Declared> declared = Declare(state, command.call(), taken);
  if (!declared.ok()) return WithOperator(declared.status(), command.call().op());
  Answer outputs;
  EncodeOutputs(declared->plan.call, *outputs.header.mutable_outputs()->mutable_outputs());
  taken.ticket->ReleaseHeld();  // the budget has them
  taken.ticket->Send(std::move(outputs));
  auto call = std::make_shared<ChunkedCall>(
      *std::move(declared),
      ChunkedCall::Limits{.max_skew_bytes = state.limits.max_skew_bytes,
                          .piece_bytes = state.limits.chunk_bytes},
      taken.ticket, state.engine, state.clock);
  if (!call->is_complete()) state.chunked_calls.Add(taken.ticket->id(), std::move(call));
  return absl::OkStatus();
}

// Chunks that were under way when their call failed are dropped.
absl::Status Handle(SessionState& state, const v1::InputChunkCommand& command, Taken& taken) {
  const uint64_t id = command.command();
  const absl::StatusOr<std::shared_ptr<ChunkedCall>*> found = state.chunked_calls.Find(id);
  if (!found.ok() && !state.failed_calls.contains(id)) return found.status();
  taken.ticket->ReleaseHeld();  // from here on the call counts them
  if (found.ok()) {
    ChunkedCall& call = ***found;
    const bool fed = call.Feed(command.input(), RawEntry(taken.command, command.raw_index()),
                               taken.command.owner)
                         .ok();
    if (!fed) state.failed_calls.insert(id);
    if (!fed || call.is_complete()) state.chunked_calls.Erase(id).IgnoreError();
  }
  taken.ticket->Finish(absl::OkStatus());
  return absl::OkStatus();
}

// A call that waits for chunks may have no turn any more: it ends here.
absl::Status Handle(SessionState& state, const v1::CancelCommand& command, Taken& taken) {
  const uint64_t id = command.command();
  if (id == 0 || id >= taken.ticket->id()) {
    return OutOfRange("command", "the id of a command that was sent before", absl::StrCat(id));
  }
  const absl::StatusOr<std::shared_ptr<ChunkedCall>*> chunked = state.chunked_calls.Find(id);
  if (chunked.ok()) {
    (**chunked)->Cancel();
    state.failed_calls.insert(id);
    state.chunked_calls.Erase(id).IgnoreError();
  }
  state.flow->Cancel(id);
  taken.ticket->Finish(absl::OkStatus());
  return absl::OkStatus();
}

}  // namespace opserve::server
