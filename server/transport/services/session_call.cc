#include "server/transport/services/session_call.h"

#include <memory>
#include <utility>
#include <vector>

#include <grpc/grpc.h>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "server/calls/worker_task.h"
#include "server/codec/message_scanner.h"
#include "server/codec/status_details.h"
#include "server/transport/messages/inflate.h"
#include "server/transport/messages/status.h"
#include "server/transport/unary/call_metadata.h"

namespace opserve::server {
namespace {

// How long a session that drains must have nothing under way: shorter than StreamEnder's patience.
constexpr absl::Duration kDrainGrace = absl::Milliseconds(100);

// How long a message's commands may keep a thread of the network from other messages: longer than a
// group of small calls takes, unless those of another session keep one, too.
constexpr absl::Duration kTakeTime = absl::Milliseconds(2);
constexpr absl::Duration kCrowdedTakeTime = absl::Microseconds(250);
// And a worker from other work.
constexpr absl::Duration kTurnTime = absl::Microseconds(500);

// A message of so many bytes may wait where its client has no host memory left; a larger one ends
// the session. Clients put a MiB and one more chunk into a message.
constexpr size_t kAlwaysKeptBytes = size_t{4} << 20;

// Of the answers in one message.
constexpr int64_t kGroupBytes = int64_t{64} << 10;

absl::Status IdleForLong(absl::Duration timeout) {
  return MakeError(
      {.reason = ErrorReason::kDeadlineExceeded,
       .op = {},
       .parameter = "session",
       .want = absl::StrCat("a command or a pending answer within ", absl::FormatDuration(timeout),
                            " (--session-idle-timeout)"),
       .got = "none"});
}

}  // namespace

std::shared_ptr<SessionCall> SessionCall::Start(Engine& engine,
                                                const SessionServiceOptions& options,
                                                SessionOwner owner,
                                                grpc::CallbackServerContext& context) {
  std::shared_ptr<SessionCall> call(new SessionCall(engine, options, std::move(owner), context));
  call->self_ = call;
  using Wake = absl::AnyInvocable<void() const>;
  call->flow_->Attach(std::make_shared<const Wake>([weak = std::weak_ptr<SessionCall>(call)] {
    if (const std::shared_ptr<SessionCall> awake = weak.lock()) awake->Advance();
  }));
  call->Advance();
  return call;
}

SessionCall::SessionCall(Engine& engine, const SessionServiceOptions& options, SessionOwner owner,
                         grpc::CallbackServerContext& context)
    : engine_(engine),
      options_(options),
      owner_(std::move(owner)),
      context_(context),
      flow_(
          std::make_shared<Flow>(options.limits.window_bytes,
                                 std::make_shared<SessionMemory>(options.host_memory, owner_.client,
                                                                 options.limits.host_memory_bytes),
                                 *options.counters)),
      session_(engine, *options.plans, *options.open_streams, *options.clock, options.limits,
               flow_),
      charge_(*options_.host_memory, HostCharge::Of::kWaiting),
      record_(RecordOf(kSessionMethod, context)),
      idle_since_(options.clock->Now()) {
  options_.counters->SessionOpened();
  record_.is_session = true;
  record_.is_sampled = options.observer->Samples(record_.trace);
  record_.phases.begun = idle_since_;
}

SessionCall::~SessionCall() {
  options_.counters->SessionClosed();
  if (owner_.on_end) owner_.on_end();
}

void SessionCall::OnReadDone(bool ok) {
  {
    MutexLock lock(mutex_);
    taking_ = Taking::kNow;
    has_read_ = has_read_ || ok;
    if (!counted_) idle_since_ = options_.clock->Now();
  }
  is_unopened_ = ok;
  if (ok && TakesLongToRead(in_, v1::SessionRequest::kRawFieldNumber, kMaxRawEntries)) {
    const absl::Status status = Charge(in_.Length());
    if (status.ok()) {
      MutexLock lock(mutex_);
      taking_ = Taking::kQueued;
      return RunOnWorker(engine_, owner_.client, [self = shared_from_this()] { self->TakeTurn(); });
    }
    is_unopened_ = false;
    in_.Clear();
    End(status);
  }
  if (!ok) {
    session_.EndOfCommands();
    MutexLock lock(mutex_);
    half_closed_ = true;
  }
  const bool is_crowded = options_.kept_threads->fetch_add(1) > 0;
  TakeCommands(is_crowded ? kCrowdedTakeTime : kTakeTime);
  --*options_.kept_threads;
}

absl::Status SessionCall::OpenRead() {
  const size_t message_bytes = in_.Length();
  OPSERVE_RETURN_IF_ERROR(Inflate(in_, options_.max_inflated_bytes));
  OPSERVE_ASSIGN_OR_RETURN(reader_, CommandReader::Open(in_));
  in_.Clear();
  if (owner_.connection != nullptr)
    owner_.connection->NoteMessages(static_cast<int64_t>(message_bytes));
  options_.counters->CommandsCame(reader_.size(), message_bytes);
  commands_.fetch_add(static_cast<int64_t>(reader_.size()), std::memory_order_relaxed);
  request_bytes_.fetch_add(message_bytes, std::memory_order_relaxed);
  return absl::OkStatus();
}

absl::Status SessionCall::Charge(size_t message_bytes) {
  const int64_t missing = static_cast<int64_t>(message_bytes) - charge_.bytes();
  if (missing <= 0) return absl::OkStatus();
  if (message_bytes > kAlwaysKeptBytes) return charge_.Add(owner_.client, missing, "message");
  charge_.Note(owner_.client, missing);
  return absl::OkStatus();
}

void SessionCall::TakeCommands(absl::Duration time) {
  const absl::Time end = options_.clock->Now() + time;
  if (std::exchange(is_unopened_, false)) {
    const absl::Status status = OpenRead();
    if (!status.ok()) End(status);
  }
  bool more = reader_.size() > 0;
  while (more && flow_->MayRead() && options_.clock->Now() < end) {
    absl::StatusOr<Command> command = reader_.Next();
    const absl::Status status =
        command.ok() ? session_.Take(*std::move(command)) : command.status();
    if (!status.ok()) {
      End(status);
      reader_ = CommandReader();
    }
    more = reader_.size() > 0;
  }
  if (more) {
    const absl::Status status = Charge(reader_.message_bytes());
    more = status.ok();
    if (!more) {
      End(status);
      reader_ = CommandReader();
    }
  }
  if (!more) charge_.Clear();
  {
    MutexLock lock(mutex_);
    taking_ = more ? Taking::kWaitsForRoom : Taking::kDone;
    reading_ = more;
  }
  Advance();
}

void SessionCall::TakeTurn() {
  {
    MutexLock lock(mutex_);
    if (finished_) return;
    taking_ = Taking::kNow;
  }
  TakeCommands(kTurnTime);
}

void SessionCall::OnWriteDone(bool ok) {
  size_t answers = 0;
  int64_t bytes = 0;
  {
    MutexLock lock(mutex_);
    writing_ = false;
    answers = out_answers_;
    bytes = out_bytes_;
    out_.Clear();
  }
  flow_->Sent(answers, bytes);
  if (ok) return Advance();
  End(MakeError({.reason = ErrorReason::kCancelled}));
}

void SessionCall::OnCancel() { End(MakeError({.reason = ErrorReason::kCancelled})); }

void SessionCall::OnDone() {
  session_.Close();
  {
    MutexLock lock(mutex_);
    done_ = true;
    if (std::exchange(counted_, false)) --*options_.executing;
  }
  if (!HasRead() && context_.IsCancelled() && owner_.connection != nullptr)
    options_.connections->NoteResets(*owner_.connection, 1);
  Report();
  const std::shared_ptr<SessionCall> self = std::move(self_);
}

void SessionCall::Report() {
  absl::Status status;
  {
    MutexLock lock(mutex_);
    status = status_;
    record_.response_bytes = response_bytes_;
    record_.failed_calls = failed_commands_;
  }
  record_.calls = commands_.load(std::memory_order_relaxed);
  record_.request_bytes = request_bytes_.load(std::memory_order_relaxed);
  record_.phases.answered = options_.clock->Now();
  TakeStatus(status, record_);
  options_.observer->log().Write(status, [this] { return record_; });
  record_.phases.ended = record_.phases.answered;
  options_.observer->Ended(std::move(record_));
}

bool SessionCall::HasRead() {
  MutexLock lock(mutex_);
  return has_read_;
}

void SessionCall::Advance() {
  MutexLock lock(mutex_);
  if (finished_ || taking_ == Taking::kNow) return;
  CountWork();
  if (taking_ == Taking::kWaitsForRoom && flow_->MayRead()) {
    taking_ = Taking::kQueued;
    RunOnWorker(engine_, owner_.client, [self = shared_from_this()] { self->TakeTurn(); });
  }
  // The answers to one message go together: those who wait for them send their next calls together.
  if (taking_ != Taking::kQueued || flow_->unsent_bytes() >= kGroupBytes) AdvanceWrite();
  if (!reading_ && !half_closed_ && flow_->MayRead()) {
    reading_ = true;
    StartRead(&in_);
  }
  if (half_closed_ && !reading_ && !writing_ && flow_->IsIdle()) {
    FinishWith(absl::OkStatus());
  }
}

void SessionCall::FinishWith(const absl::Status& status) {
  if (std::exchange(finished_, true)) return;
  status_ = status;
  finish_start_ = options_.clock->Now();
  Finish(ToGrpcStatus(status));
}

void SessionCall::AdvanceWrite() {
  if (writing_) return;
  std::vector<Answer> answers = flow_->Next(kGroupBytes);
  if (answers.empty()) return;
  writing_ = true;
  write_start_ = options_.clock->Now();
  out_answers_ = answers.size();
  out_bytes_ = 0;
  for (const Answer& answer : answers) {
    out_bytes_ += answer.size_bytes();
    if (!answer.status.ok()) ReportFailed(answer);
  }
  out_ = WriteAnswers(std::move(answers));
  options_.counters->AnswersLeft(out_answers_, out_.Length());
  response_bytes_ += out_.Length();
  grpc::WriteOptions write;
  if (flow_->HasAnswer()) write.set_buffer_hint();
  StartWrite(&out_, write);
}

void SessionCall::ReportFailed(const Answer& answer) {
  ++failed_commands_;
  options_.counters->CommandFailed(ReasonOf(answer.status), answer.status);
  options_.observer->log().Write(answer.status, [this, &answer] {
    CallRecord record = RecordOf(kSessionMethod, context_);
    record.command = answer.header.id();
    TakeStatus(answer.status, record);
    return record;
  });
}

void SessionCall::CountWork() {
  const bool works = taking_ != Taking::kDone || !flow_->IsIdle();
  if (works == counted_) return;
  counted_ = works;
  *options_.executing += works ? 1 : -1;
  idle_since_ = works ? absl::InfiniteFuture() : options_.clock->Now();
}

void SessionCall::End(const absl::Status& status) {
  session_.Close();
  MutexLock lock(mutex_);
  FinishWith(status);
}

// A status that is sent in the usual way waits behind the answers that nobody takes.
void SessionCall::Cut() {
  grpc_call_cancel_with_status(context_.c_call(), GRPC_STATUS_DEADLINE_EXCEEDED,
                               "the client did not read its answers", nullptr);
}

void SessionCall::Drain() {
  {
    MutexLock lock(mutex_);
    if (std::exchange(draining_, true)) return;
    if (!counted_) idle_since_ = options_.clock->Now();
  }
  session_.AnnounceDrain();
}

void SessionCall::StopIfLeft() {
  if (is_stopped_ || owner_.connection == nullptr || !owner_.connection->is_over()) return;
  is_stopped_ = true;
  must_clear_ = session_.Stop();
}

void SessionCall::Tick(absl::Time now) {
  if (std::exchange(must_clear_, false)) session_.Clear();
  absl::Status end;
  {
    MutexLock lock(mutex_);
    if (done_) return;  // the context is gone
    const absl::Time since = finished_ ? finish_start_ : writing_ ? write_start_ : now;
    if (now - since > options_.limits.stall_timeout) return Cut();
    if (finished_) return;
    const absl::Duration idle = now - idle_since_;  // negative where something is under way
    if (is_stopped_) end = MakeError({.reason = ErrorReason::kCancelled});
    if (draining_ && idle >= kDrainGrace) end = MakeError({.reason = ErrorReason::kDraining});
    if (end.ok() && options_.limits.idle_timeout > absl::ZeroDuration() &&
        idle >= options_.limits.idle_timeout)
      end = IdleForLong(options_.limits.idle_timeout);
  }
  if (!end.ok()) return End(end);
  // Others may have made room.
  flow_->LookAgain();
  Advance();
}

}  // namespace opserve::server
