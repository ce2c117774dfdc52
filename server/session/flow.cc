#include "server/session/flow.h"

namespace opserve::server {
namespace {

// What an answer takes besides its bulk: counted so that answers without bulk are bounded, too.
constexpr int64_t kAnswerBytes = 256;

}  // namespace

int64_t Answer::size_bytes() const {
  const auto header_bytes = static_cast<int64_t>(header.ByteSizeLong());
  // A status says once more what its header says.
  int64_t bytes = kAnswerBytes + (status.ok() ? header_bytes : 2 * header_bytes);
  for (const PooledBuffer& entry : raw) bytes += static_cast<int64_t>(entry.size());
  return bytes;
}

void Flow::Attach(std::shared_ptr<const absl::AnyInvocable<void() const>> wake) {
  MutexLock lock(mutex_);
  wake_ = std::move(wake);
}

std::vector<Answer> Flow::Next(int64_t max_bytes) {
  std::vector<Answer> next;
  MutexLock lock(mutex_);
  for (int64_t bytes = 0; !answers_.empty(); answers_.pop_front()) {
    bytes += answers_.front().size_bytes();
    if (!next.empty() && bytes > max_bytes) break;
    next.push_back(std::move(answers_.front()));
  }
  sending_ += next.size();
  return next;
}

void Flow::Sent(size_t answers, int64_t bytes) {
  {
    MutexLock lock(mutex_);
    sending_ -= answers;
  }
  Unreserve(bytes);
}

bool Flow::HasAnswer() const {
  MutexLock lock(mutex_);
  return !answers_.empty();
}

bool Flow::MayRead() const {
  MutexLock lock(mutex_);
  return held_bytes_ <= window_bytes_ && unsent_bytes_ <= window_bytes_ && memory_->HasRoom();
}

bool Flow::IsIdle() const {
  MutexLock lock(mutex_);
  return commands_ == 0 && answers_.empty() && sending_ == 0;
}

int64_t Flow::unsent_bytes() const {
  MutexLock lock(mutex_);
  return unsent_bytes_;
}

void Flow::Close() {
  std::deque<Waiter> waiters;
  std::deque<Answer> dropped;
  std::shared_ptr<const absl::AnyInvocable<void() const>> wake;
  {
    MutexLock lock(mutex_);
    closed_ = true;
    waiters.swap(waiters_);
    dropped.swap(answers_);
    wake.swap(wake_);
    for (const Answer& answer : dropped) AddUnsent(-answer.size_bytes());
  }
  for (Waiter& waiter : waiters) waiter.ready(false);
}

void Flow::Send(Answer answer) { SendReserved(std::move(answer), 0); }

void Flow::SendReserved(Answer answer, int64_t reserved) {
  Post(std::move(answer), reserved);
  Wake();
}

void Flow::Post(Answer answer, int64_t reserved) {
  const int64_t bytes = answer.size_bytes();
  MutexLock lock(mutex_);
  if (closed_) return;
  AddUnsent(bytes - reserved);
  answers_.push_back(std::move(answer));
}

bool Flow::HasRoom(int64_t bytes) const {
  return (unsent_bytes_ == 0 || bytes <= window_bytes_ - unsent_bytes_) && memory_->HasRoom();
}

void Flow::AddUnsent(int64_t bytes) {
  unsent_bytes_ += bytes;
  memory_->Note(bytes);
}

void Flow::AddHeld(int64_t bytes) {
  held_bytes_ += bytes;
  memory_->Note(bytes);
}

void Flow::LookAgain() {
  std::vector<Waiter> ready;
  {
    MutexLock lock(mutex_);
    ready = TakeReady();
  }
  for (Waiter& waiter : ready) waiter.ready(true);
}

void Flow::Reserve(int64_t bytes, absl::AnyInvocable<void(bool)> ready) {
  bool closed = false;
  {
    MutexLock lock(mutex_);
    closed = closed_;
    if (!closed) {
      if (!waiters_.empty() || !HasRoom(bytes)) {
        waiters_.push_back({bytes, std::move(ready)});
        return;
      }
      AddUnsent(bytes);
    }
  }
  ready(!closed);
}

std::vector<Flow::Waiter> Flow::TakeReady() {
  std::vector<Waiter> ready;
  while (!waiters_.empty() && HasRoom(waiters_.front().bytes)) {
    AddUnsent(waiters_.front().bytes);
    ready.push_back(std::move(waiters_.front()));
    waiters_.pop_front();
  }
  return ready;
}

void Flow::Unreserve(int64_t bytes) {
  std::vector<Waiter> ready;
  {
    MutexLock lock(mutex_);
    AddUnsent(-bytes);
    ready = TakeReady();
  }
  for (Waiter& waiter : ready) waiter.ready(true);
  Wake();
}

void Flow::Hold(int64_t bytes) {
  MutexLock lock(mutex_);
  AddHeld(bytes);
}

void Flow::Release(int64_t bytes) {
  if (bytes == 0) return;
  {
    MutexLock lock(mutex_);
    AddHeld(-bytes);
  }
  Wake();
}

bool Flow::BeginCommand(int64_t max) {
  MutexLock lock(mutex_);
  if (commands_ >= max) return false;
  ++commands_;
  counters_.CommandBegan();
  return true;
}

void Flow::MakeCancellable(uint64_t id, std::atomic<bool>& cancelled) {
  MutexLock lock(mutex_);
  under_way_.Add(id, cancelled);
}

void Flow::Cancel(uint64_t id) {
  MutexLock lock(mutex_);
  under_way_.Cancel(id);
}

void Flow::EndCommand(std::optional<Answer> answer, int64_t released_bytes, uint64_t cancellable) {
  const int64_t bytes = answer.has_value() ? answer->size_bytes() : 0;
  {
    MutexLock lock(mutex_);
    --commands_;
    counters_.CommandEnded();
    if (cancellable != 0) under_way_.Remove(cancellable);
    AddHeld(-released_bytes);
    if (answer.has_value() && !closed_) {
      AddUnsent(bytes);
      answers_.push_back(*std::move(answer));
    }
  }
  Wake();
}

void Flow::Wake() {
  std::shared_ptr<const absl::AnyInvocable<void() const>> wake;
  {
    MutexLock lock(mutex_);
    wake = wake_;
  }
  if (wake != nullptr) (*wake)();
}

}  // namespace opserve::server
