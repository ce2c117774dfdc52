#include "server/session/session.h"

#include <array>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "server/session/handlers.h"

namespace opserve::server {
namespace {

using Request = v1::Command;

enum class Results : uint8_t { kNone, kSome };
enum class Answered : uint8_t { kYes, kNever };
enum class Entries : uint8_t { kNone, kSome };
enum class Bounded : uint8_t { kYes, kNo };

struct Entry {
  Request::CommandCase command = Request::COMMAND_NOT_SET;
  absl::Status (*handle)(SessionState&, Taken&) = nullptr;
  Results results = Results::kNone;  // what `quiet` must not go with
  Answered answered = Answered::kYes;
  Entries entries = Entries::kNone;  // of the message's raw, that it may have
  Bounded bounded = Bounded::kYes;   // refused when too many are under way
};

template <auto kGet>
absl::Status CallHandler(SessionState& state, Taken& taken) {
  return Handle(state, (taken.command.header.*kGet)(), taken);
}

constexpr Entry kEntries[] = {
    {Request::kCreateContext, &CallHandler<&Request::create_context>},
    {Request::kDestroyContext, &CallHandler<&Request::destroy_context>, Results::kNone,
     Answered::kYes, Entries::kNone, Bounded::kNo},
    {Request::kCreateStream, &CallHandler<&Request::create_stream>},
    {Request::kDestroyStream, &CallHandler<&Request::destroy_stream>, Results::kNone,
     Answered::kYes, Entries::kNone, Bounded::kNo},
    {Request::kCreateEvent, &CallHandler<&Request::create_event>},
    {Request::kDestroyEvent, &CallHandler<&Request::destroy_event>, Results::kNone, Answered::kYes,
     Entries::kNone, Bounded::kNo},
    {Request::kRecordEvent, &CallHandler<&Request::record_event>},
    {Request::kWaitEvent, &CallHandler<&Request::wait_event>},
    {Request::kQueryEvent, &CallHandler<&Request::query_event>, Results::kSome},
    {Request::kQueryStream, &CallHandler<&Request::query_stream>, Results::kSome},
    {Request::kQueryElapsedTime, &CallHandler<&Request::query_elapsed_time>, Results::kSome},
    {Request::kSynchronize, &CallHandler<&Request::synchronize>, Results::kNone, Answered::kYes,
     Entries::kNone, Bounded::kNo},
    {Request::kAllocate, &CallHandler<&Request::allocate>},
    {Request::kFree, &CallHandler<&Request::free>, Results::kNone, Answered::kYes, Entries::kNone,
     Bounded::kNo},
    {Request::kQueryMemory, &CallHandler<&Request::query_memory>, Results::kSome},
    {Request::kUpload, &CallHandler<&Request::upload>, Results::kNone, Answered::kYes,
     Entries::kSome},
    {Request::kDownload, &CallHandler<&Request::download>, Results::kSome},
    {Request::kCopy, &CallHandler<&Request::copy>},
    {Request::kFill, &CallHandler<&Request::fill>},
    {Request::kCreateExecutor, &CallHandler<&Request::create_executor>, Results::kNone,
     Answered::kYes, Entries::kSome},
    {Request::kSetTensors, &CallHandler<&Request::set_tensors>},
    {Request::kRunExecutor, &CallHandler<&Request::run_executor>},
    {Request::kDestroyExecutor, &CallHandler<&Request::destroy_executor>, Results::kNone,
     Answered::kYes, Entries::kNone, Bounded::kNo},
    {Request::kExecute, &CallHandler<&Request::execute>, Results::kSome, Answered::kYes,
     Entries::kSome},
    {Request::kExecuteChunked, &CallHandler<&Request::execute_chunked>, Results::kSome,
     Answered::kYes, Entries::kSome},
    {Request::kInputChunk, &CallHandler<&Request::input_chunk>, Results::kNone, Answered::kNever,
     Entries::kSome, Bounded::kNo},
    {Request::kCancel, &CallHandler<&Request::cancel>, Results::kNone, Answered::kYes,
     Entries::kNone, Bounded::kNo},
};

const Entry* FindEntry(Request::CommandCase command) {
  for (const Entry& entry : kEntries) {
    if (entry.command == command) return &entry;
  }
  return nullptr;
}

Answer InfoAnswer(const SessionLimits& limits) {
  Answer answer;
  v1::SessionInfo& info = *answer.header.mutable_info();
  info.set_memory_limit_bytes(limits.memory_limit_bytes);
  info.set_max_handles(limits.max_handles);
  info.set_max_queued_commands(limits.max_queued_commands);
  info.set_window_bytes(limits.window_bytes);
  info.set_max_skew_bytes(limits.max_skew_bytes);
  info.set_recommended_chunk_bytes(limits.chunk_bytes);
  info.set_max_message_bytes(limits.max_message_bytes);
  return answer;
}

absl::Status TooManyCommands(const SessionLimits& limits) {
  return MakeError({.reason = ErrorReason::kResourceLimit,
                    .op = {},
                    .parameter = "command",
                    .want = absl::StrCat("at most ", limits.max_queued_commands,
                                         " commands under way in the session"),
                    .got = "one more"});
}

CommandDeadline DeadlineOf(const v1::Command& command, const Clock& clock) {
  if (command.timeout_ns() <= 0) return {};
  return {clock.Now() + absl::Nanoseconds(command.timeout_ns()), &clock};
}

absl::Status Dispatch(SessionState& state, const Entry& entry, Taken& taken, bool admitted) {
  if (!admitted) return TooManyCommands(state.limits);
  if (taken.ticket->is_quiet() && entry.results == Results::kSome)
    return InvalidParameter("quiet", "false for a command with results", "true");
  if (!taken.command.raw.empty() && entry.entries == Entries::kNone) {
    return InvalidParameter(
        "raw", "only entries that a command of the message uses",
        absl::StrCat(taken.command.raw.size(), " entries that no command uses"));
  }
  const int64_t timeout_ns = taken.command.header.timeout_ns();
  if (timeout_ns < 0) return OutOfRange("timeout_ns", ">= 0", absl::StrCat(timeout_ns));
  return entry.handle(state, taken);
}

}  // namespace

Session::Session(Engine& engine, PlanCache& plans, OpenStreams& open_streams, const Clock& clock,
                 const SessionLimits& limits, std::shared_ptr<Flow> flow)
    : flow_(flow), state_(engine, plans, open_streams, clock, limits, std::move(flow)) {
  flow_->Send(InfoAnswer(limits));
}

absl::Status Session::Take(Command command) {
  const uint64_t id = command.header.id();
  if (id <= last_id_) {
    return OutOfRange("id", absl::StrCat("more than ", last_id_, ", the command's before"),
                      absl::StrCat(id));
  }
  last_id_ = id;
  if (FindEntry(command.header.command_case()) == nullptr)
    return MissingParameter("command", "one of the commands that Command has");
  if (!EnterState()) return absl::OkStatus();
  Perform(std::move(command));
  LeaveState();
  return absl::OkStatus();
}

void Session::Perform(Command command) {
  const Entry& entry = *FindEntry(command.header.command_case());
  const bool silent = command.header.quiet() || entry.answered == Answered::kNever;
  // Chunks of a call are counted by the call. A cancellation and what destroys make room, and a
  // synchronization waits for it: the window bounds how many of them wait.
  const bool bounded = entry.bounded == Bounded::kYes;
  const bool admitted = flow_->BeginCommand(bounded ? state_.limits.max_queued_commands
                                                    : std::numeric_limits<int64_t>::max());
  // One that is refused is under way until its answer, too.
  if (!admitted) flow_->BeginCommand(std::numeric_limits<int64_t>::max());
  Taken taken{.ticket = std::make_shared<Ticket>(
                  flow_, command.header.id(),
                  silent ? Ticket::Answers::kOnFailure : Ticket::Answers::kAlways,
                  command.held_bytes(), DeadlineOf(command.header, state_.clock)),
              .command = command};
  const absl::Status status = Dispatch(state_, entry, taken, admitted);
  if (status.ok()) return taken.ticket->MakeCancellable();
  if (entry.command == Request::kExecuteChunked) state_.failed_calls.insert(command.header.id());
  taken.ticket->Finish(status);
}

void Session::EndOfCommands() {
  if (!EnterState()) return;
  state_.chunked_calls.ForEach(
      [](const std::shared_ptr<ChunkedCall>& call) { call->EndOfInput().IgnoreError(); });
  LeaveState();
}

void Session::AnnounceDrain() {
  Answer answer;
  answer.header.mutable_draining();
  flow_->Send(std::move(answer));
}

bool Session::EnterState() {
  MutexLock lock(mutex_);
  if (closed_) return false;
  busy_ = true;
  return true;
}

void Session::LeaveState() {
  {
    MutexLock lock(mutex_);
    busy_ = false;
    if (!closed_) return;
  }
  state_.Clear();
}

bool Session::Stop() {
  bool mine = false;
  {
    MutexLock lock(mutex_);
    mine = !std::exchange(closed_, true) && !busy_;  // otherwise LeaveState clears
  }
  flow_->Close();
  if (mine) state_.Abandon();
  return mine;
}

void Session::Close() {
  if (Stop()) Clear();
}

}  // namespace opserve::server
