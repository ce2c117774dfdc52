#include "server/http/port/waiting_call.h"

#include <sys/eventfd.h>

#include <utility>

namespace opserve::server {

void WaitingCall::Answer(HttpResponse response) {
  {
    const MutexLock lock(mutex_);
    answer_ = std::move(response);
    if (!waits_) return;
  }
  calls_.NoteAnswered(shared_from_this());
}

std::optional<HttpResponse> WaitingCall::TakeAnswerOrWait() {
  const MutexLock lock(mutex_);
  waits_ = !answer_.has_value();
  if (waits_) calls_.Add(*this);
  return std::exchange(answer_, std::nullopt);
}

size_t WaitingCall::answer_bytes() {
  const MutexLock lock(mutex_);
  return answer_.has_value() ? answer_->body_bytes() : 0;
}

void WaitingCalls::NoteAnswered(std::shared_ptr<WaitingCall> call) {
  const MutexLock lock(mutex_);
  answered_.push_back(std::move(call));
  // Under the lock: the descriptor stays while the port's thread waits for this call.
  ::eventfd_write(wake_, 1);
}

std::vector<std::shared_ptr<WaitingCall>> WaitingCalls::TakeAnswered() {
  std::vector<std::shared_ptr<WaitingCall>> answered;
  {
    const MutexLock lock(mutex_);
    answered.swap(answered_);
  }
  for (const std::shared_ptr<WaitingCall>& call : answered) waiting_.erase(call.get());
  return answered;
}

void WaitingCalls::CancelAll() {
  for (WaitingCall* call : waiting_) call->Cancel();
}

void WaitingCalls::AddTo(std::vector<pollfd>& polled) const {
  for (const WaitingCall* call : waiting_) {
    if (!call->IsCancelled())
      polled.push_back({.fd = call->socket(), .events = POLLRDHUP, .revents = 0});
  }
}

void WaitingCalls::CancelThoseThatLeft(std::span<const pollfd> polled) {
  for (const pollfd& each : polled) {
    if (each.revents == 0) continue;
    for (WaitingCall* call : waiting_) {
      if (call->socket() == each.fd) call->Cancel();
    }
  }
}

}  // namespace opserve::server
