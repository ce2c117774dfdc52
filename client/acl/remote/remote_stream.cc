#include "client/acl/remote/remote_stream.h"

#include <algorithm>

#include "client/acl/remote/remote_event.h"
#include "client/acl/remote/remote_memory.h"
#include "client/acl/remote/remote_plan.h"
#include "core/base/clock.h"
#include "core/base/status_macros.h"

namespace opserve::acl {
namespace {

constexpr size_t kMostBelieved = 256;

}  // namespace

void RemoteStream::Failures::Note(absl::Status status) {
  const MutexLock lock(mutex);
  if (first.ok()) first = std::move(status);
}

absl::Status RemoteStream::Failures::Take() {
  const MutexLock lock(mutex);
  return std::exchange(first, absl::OkStatus());
}

void RemoteStream::Believed::Add(const client::Executor& executor) {
  const MutexLock lock(mutex_);
  if (outcomes_.size() == kMostBelieved) outcomes_.pop_front();
  outcomes_.push_back(executor.Outcome());
}

absl::Status RemoteStream::Believed::ReasonOf(absl::Status failure) {
  std::deque<Outcome> outcomes;
  {
    const MutexLock lock(mutex_);
    outcomes.swap(outcomes_);
  }
  if (failure.ok()) return failure;
  for (const Outcome& outcome : outcomes) OPSERVE_RETURN_IF_ERROR(outcome({.timeout = kLastWord}));
  return failure;
}

RemoteStream::~RemoteStream() { lent_->AwaitReturn(lent_->latest(), absl::InfiniteFuture()); }

absl::Status RemoteStream::Enter() {
  OPSERVE_RETURN_IF_ERROR(session_.CheckAlive());
  if (transfers_.JoinBefore(stream_, joined_)) end_.Put();
  return absl::OkStatus();
}

absl::Status RemoteStream::Put(absl::Status sent) {
  end_.Put();
  return sent;
}

Loans RemoteStream::LoansNow() {
  const MutexLock lock(mutex_);
  Loans loans = awaited_;
  loans.Add(lent_);
  return loans;
}

absl::Status RemoteStream::Upload(const MemoryView& to, std::span<const std::byte> from) {
  OPSERVE_RETURN_IF_ERROR(Enter());
  return Put(SendBytes(session_, stream_, to, from, lent_));
}

absl::Status RemoteStream::Download(const MemoryView& from, std::span<std::byte> to) {
  OPSERVE_RETURN_IF_ERROR(Enter());
  stream_.DownloadToAsync(
      BytesOf(from, static_cast<int64_t>(to.size())), to,
      [damage = damage_, lent = lent_, loan = lent_->Lend()](absl::Status status) {
        damage->Note(std::move(status));
        lent->Return(loan);
      });
  return Put(absl::OkStatus());
}

absl::Status RemoteStream::Copy(const MemoryView& from, const MemoryView& to, int64_t bytes) {
  OPSERVE_RETURN_IF_ERROR(Enter());
  return Put(stream_.Copy(BytesOf(from, bytes), BytesOf(to, bytes)));
}

absl::Status RemoteStream::Fill(const MemoryView& to, std::byte value, int64_t bytes) {
  OPSERVE_RETURN_IF_ERROR(Enter());
  return Put(stream_.Fill(BytesOf(to, bytes), static_cast<uint8_t>(value)));
}

absl::Status RemoteStream::Execute(ProvidedPlan& plan, const MemoryView& workspace) {
  OPSERVE_RETURN_IF_ERROR(Enter());
  const auto& remote = static_cast<const RemotePlan&>(plan);
  const client::Executor& executor = remote.executor();
  if (remote.made() == RemotePlan::Made::kBelieved) believed_.Add(executor);
  if (workspace.memory == nullptr) {
    stream_.Execute(executor);
  } else {
    stream_.Execute(executor, BufferOf(workspace), workspace.offset_bytes);
  }
  return Put(absl::OkStatus());
}

absl::Status RemoteStream::Record(ProvidedEvent& event) {
  OPSERVE_RETURN_IF_ERROR(Enter());
  static_cast<RemoteEvent&>(event).RecordOn(stream_, LoansNow());
  return Put(absl::OkStatus());
}

absl::Status RemoteStream::Wait(const ProvidedEvent& event) {
  OPSERVE_RETURN_IF_ERROR(Enter());
  const auto& remote = static_cast<const RemoteEvent&>(event);
  OPSERVE_RETURN_IF_ERROR(remote.HoldUp(stream_));
  {
    const Loans loans = remote.loans();
    const MutexLock lock(mutex_);
    awaited_.Add(loans);
  }
  return Put(absl::OkStatus());
}

// What the server reached in time counts, also when it says so a little later.
bool RemoteStream::AwaitEnd(const Waiter<bool>& ended, absl::Time end) {
  if (ended.Wait(end).has_value()) return true;
  const absl::StatusOr<bool> idle = stream_.Query({.timeout = kLastWord});
  return idle.ok() && *idle && ended.Wait(Clock::Real().Now() + kLastWord).has_value();
}

RemoteStream::Synchronized RemoteStream::Synchronize(absl::Duration timeout) {
  absl::Status failure = Enter();
  if (!failure.ok()) return {.in_time = true, .failure = std::move(failure)};
  const absl::Time end = Clock::Real().Now() + timeout;
  const Loans loans = LoansNow();
  const Waiter<bool> ended = end_.Await([this](const Waiter<bool>& waiter) {
    stream_.SynchronizeAsync([told = told_, waiter](absl::Status status) {
      told->Note(std::move(status));
      waiter.Set(true);
    });
  });
  const bool in_time =
      AwaitEnd(ended, end) && loans.AwaitReturn(std::max(end, Clock::Real().Now() + kLastWord));
  failure = session_.CheckAlive();
  if (!failure.ok()) return {.in_time = true, .failure = std::move(failure)};
  if (!in_time) return {.in_time = false, .failure = {}};
  end_.Came();
  failure = believed_.ReasonOf(told_->Take());
  const absl::Status damage = damage_->Take();
  if (failure.ok()) failure = damage;
  if (failure.ok()) failure = transfers_.TakeFailure();
  return {.in_time = true, .failure = session_.Told(std::move(failure))};
}

absl::StatusOr<bool> RemoteStream::IsIdle() {
  OPSERVE_RETURN_IF_ERROR(Enter());
  const Loans loans = LoansNow();
  const absl::StatusOr<bool> idle = stream_.Query();
  if (idle.ok()) return *idle && loans.AwaitReturn(absl::InfinitePast());
  return session_.Told(idle.status());
}

}  // namespace opserve::acl
