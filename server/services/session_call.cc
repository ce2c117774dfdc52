#include "server/services/session_call.h"

#include <utility>
#include <vector>

#include <grpc/grpc.h>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "server/services/session_messages.h"
#include "server/wire/status.h"

namespace opserve::server {
namespace {

// How long a session that drains must have nothing under way: shorter than StreamEnder's patience.
constexpr absl::Duration kDrainGrace = absl::Milliseconds(100);

// Of the answers in one message.
constexpr int64_t kGroupBytes = int64_t{64} << 10;

}  // namespace

std::shared_ptr<SessionCall> SessionCall::Start(Engine& engine,
                                                const SessionServiceOptions& options,
                                                grpc::CallbackServerContext& context) {
  std::shared_ptr<SessionCall> call(new SessionCall(engine, options, context));
  call->self_ = call;
  using Wake = absl::AnyInvocable<void() const>;
  call->flow_->Attach(std::make_shared<const Wake>([weak = std::weak_ptr<SessionCall>(call)] {
    if (const std::shared_ptr<SessionCall> awake = weak.lock()) awake->Advance();
  }));
  call->Advance();
  return call;
}

SessionCall::SessionCall(Engine& engine, const SessionServiceOptions& options,
                         grpc::CallbackServerContext& context)
    : options_(options),
      context_(context),
      flow_(std::make_shared<Flow>(options.limits.window_bytes)),
      session_(engine, *options.plans, *options.clock, options.limits, flow_) {
  options_.counters->SessionOpened();
}

SessionCall::~SessionCall() { options_.counters->SessionClosed(); }

void SessionCall::OnReadDone(bool ok) {
  {
    MutexLock lock(mutex_);
    taking_ = true;
  }
  if (ok) {
    const absl::Status status = TakeRead();
    if (!status.ok()) End(ToGrpcStatus(status));
  } else {
    session_.EndOfCommands();
  }
  {
    MutexLock lock(mutex_);
    taking_ = false;
    reading_ = false;
    half_closed_ = half_closed_ || !ok;
  }
  Advance();
}

absl::Status SessionCall::TakeRead() {
  const size_t message_bytes = in_.Length();
  OPSERVE_ASSIGN_OR_RETURN(IncomingCommands incoming, ReadCommands(in_));
  in_.Clear();
  if (incoming.grouped) {
    MutexLock lock(mutex_);
    grouped_ = true;
  }
  options_.counters->CommandsCame(incoming.commands.size(), message_bytes);
  for (Command& command : incoming.commands)
    OPSERVE_RETURN_IF_ERROR(session_.Take(std::move(command)));
  return absl::OkStatus();
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
  End(grpc::Status::CANCELLED);
}

void SessionCall::OnCancel() { End(grpc::Status::CANCELLED); }

void SessionCall::OnDone() {
  session_.Close();
  {
    MutexLock lock(mutex_);
    done_ = true;
    if (std::exchange(counted_, false)) --*options_.executing;
  }
  const std::shared_ptr<SessionCall> self = std::move(self_);
}

void SessionCall::Advance() {
  MutexLock lock(mutex_);
  if (finished_ || taking_) return;
  CountWork();
  AdvanceWrite();
  if (!reading_ && !half_closed_ && flow_->MayRead()) {
    reading_ = true;
    StartRead(&in_);
  }
  if (half_closed_ && !reading_ && !writing_ && flow_->IsIdle()) {
    FinishWith(grpc::Status::OK);
  }
}

void SessionCall::FinishWith(const grpc::Status& status) {
  if (std::exchange(finished_, true)) return;
  finish_start_ = options_.clock->Now();
  Finish(status);
}

void SessionCall::AdvanceWrite() {
  if (writing_) return;
  std::vector<Answer> answers = flow_->Next(grouped_ ? kGroupBytes : 0);
  if (answers.empty()) return;
  writing_ = true;
  write_start_ = options_.clock->Now();
  out_answers_ = answers.size();
  out_bytes_ = 0;
  for (const Answer& answer : answers) {
    out_bytes_ += answer.size_bytes();
    if (answer.header.has_error()) options_.counters->CommandFailed();
  }
  out_ = WriteAnswers(std::move(answers));
  options_.counters->AnswersLeft(out_answers_, out_.Length());
  grpc::WriteOptions write;
  if (flow_->HasAnswer()) write.set_buffer_hint();
  StartWrite(&out_, write);
}

void SessionCall::CountWork() {
  const bool works = !flow_->IsIdle();
  if (works == counted_) return;
  counted_ = works;
  *options_.executing += works ? 1 : -1;
  idle_since_ = works ? absl::InfiniteFuture() : options_.clock->Now();
}

void SessionCall::End(const grpc::Status& status) {
  session_.Close();
  MutexLock lock(mutex_);
  FinishWith(status);
}

// A status that is sent in the usual way waits behind the answers that nobody takes.
void SessionCall::Cut() {
  grpc_call_cancel_with_status(context_.c_call(), GRPC_STATUS_DEADLINE_EXCEEDED,
                               "the client did not take its answers", nullptr);
}

void SessionCall::Drain() {
  {
    MutexLock lock(mutex_);
    if (std::exchange(draining_, true)) return;
    if (!counted_) idle_since_ = options_.clock->Now();
  }
  session_.AnnounceDrain();
}

void SessionCall::Tick(absl::Time now) {
  bool drained = false;
  {
    MutexLock lock(mutex_);
    if (done_) return;  // the context is gone
    const absl::Time since = finished_ ? finish_start_ : writing_ ? write_start_ : now;
    if (now - since > options_.stall_timeout) return Cut();
    drained = !finished_ && draining_ && now - idle_since_ >= kDrainGrace;
  }
  if (drained) End(ToGrpcStatus(MakeError({.reason = ErrorReason::kDraining})));
}

}  // namespace opserve::server
