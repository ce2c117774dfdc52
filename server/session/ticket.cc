#include "server/session/ticket.h"

#include <utility>

#include "core/base/op_error.h"
#include "server/codec/status_details.h"

namespace opserve::server {

Ticket::Ticket(std::shared_ptr<Flow> flow, uint64_t id, Answers answers, int64_t held_bytes,
               const CommandDeadline& deadline)
    : flow_(std::move(flow)),
      id_(id),
      answers_(answers),
      deadline_(deadline),
      held_bytes_(held_bytes) {
  flow_->Hold(held_bytes);
}

Ticket::~Ticket() {
  if (!is_finished()) Finish(MakeError({.reason = ErrorReason::kCancelled}));
}

void Ticket::MakeCancellable() {
  if (is_finished()) return;
  MutexLock lock(mutex_);
  if (finished_) return;
  flow_->MakeCancellable(id_, cancelled_);
  is_cancellable_ = true;
}

absl::Status Ticket::CheckGoesOn() const {
  if (is_cancelled()) return MakeError({.reason = ErrorReason::kCancelled});
  if (deadline_.has_passed()) return MakeError({.reason = ErrorReason::kDeadlineExceeded});
  return absl::OkStatus();
}

absl::Status Ticket::Stopped() const {
  const absl::Status status = CheckGoesOn();
  return status.ok() ? MakeError({.reason = ErrorReason::kCancelled}) : status;
}

void Ticket::Send(Answer answer) { SendReserved(std::move(answer), 0); }

void Ticket::SendReserved(Answer answer, int64_t reserved) {
  answer.header.set_id(id_);
  answer.header.set_more(true);
  {
    // Under the lock: nothing may come behind the last answer.
    MutexLock lock(mutex_);
    if (!finished_) {
      flow_->Post(std::move(answer), reserved);
      reserved = 0;
    }
  }
  if (reserved > 0) return flow_->Unreserve(reserved);
  flow_->Wake();
}

void Ticket::Finish(const absl::Status& status, Answer answer) {
  if (!status.ok()) return FinishBlaming(status, 0);
  if (answers_ == Answers::kOnFailure) return End(std::nullopt);
  answer.header.set_id(id_);
  End(std::move(answer));
}

void Ticket::FinishBlaming(const absl::Status& status, uint64_t command) {
  Answer answer;
  answer.header.set_id(id_);
  answer.header.set_failed_command(command);
  *answer.header.mutable_error() = EncodeStatusDetails(status);
  answer.status = status;
  End(std::move(answer));
}

void Ticket::End(std::optional<Answer> answer) {
  int64_t held = 0;
  bool is_cancellable = false;
  {
    MutexLock lock(mutex_);
    if (finished_.exchange(true)) return;
    held = std::exchange(held_bytes_, 0);
    is_cancellable = is_cancellable_;
  }
  // Before it returns `cancelled_` may still be set.
  flow_->EndCommand(std::move(answer), held, is_cancellable ? id_ : 0);
}

void Ticket::Hold(int64_t bytes) {
  MutexLock lock(mutex_);
  if (finished_) return;
  held_bytes_ += bytes;
  flow_->Hold(bytes);
}

void Ticket::ReleaseHeld() {
  int64_t held = 0;
  {
    MutexLock lock(mutex_);
    held = std::exchange(held_bytes_, 0);
  }
  flow_->Release(held);
}

}  // namespace opserve::server
