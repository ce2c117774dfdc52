#include "client/acl/remote/remote_stream.h"

#include <algorithm>

#include "client/acl/remote/remote_event.h"
#include "client/acl/remote/remote_memory.h"
#include "client/acl/remote/remote_plan.h"
#include "core/base/clock.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::acl {
namespace {

constexpr size_t kMostBelieved = 256;

// The wait was too long, not the work.
bool IsTooLate(const absl::Status& status) {
  return absl::IsDeadlineExceeded(status) && !GetErrorDetail(status).has_value();
}

}  // namespace

void RemoteStream::Damage::Note(absl::Status status) {
  const MutexLock lock(mutex);
  if (first.ok()) first = std::move(status);
}

absl::Status RemoteStream::Damage::Take() {
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

absl::Status RemoteStream::Enter() {
  OPSERVE_RETURN_IF_ERROR(session_.CheckAlive());
  transfers_.JoinBefore(stream_, joined_);
  return absl::OkStatus();
}

absl::Status RemoteStream::Upload(const MemoryView& to, std::span<const std::byte> from) {
  OPSERVE_RETURN_IF_ERROR(Enter());
  return SendBytes(session_, stream_, to, from, Sending::kLater);
}

absl::Status RemoteStream::Download(const MemoryView& from, std::span<std::byte> to) {
  OPSERVE_RETURN_IF_ERROR(Enter());
  stream_.DownloadToAsync(
      BytesOf(from, static_cast<int64_t>(to.size())), to,
      [damage = damage_](absl::Status status) { damage->Note(std::move(status)); });
  return absl::OkStatus();
}

absl::Status RemoteStream::Copy(const MemoryView& from, const MemoryView& to, int64_t bytes) {
  OPSERVE_RETURN_IF_ERROR(Enter());
  return stream_.Copy(BytesOf(from, bytes), BytesOf(to, bytes));
}

absl::Status RemoteStream::Fill(const MemoryView& to, std::byte value, int64_t bytes) {
  OPSERVE_RETURN_IF_ERROR(Enter());
  return stream_.Fill(BytesOf(to, bytes), static_cast<uint8_t>(value));
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
  return absl::OkStatus();
}

absl::Status RemoteStream::Record(ProvidedEvent& event) {
  OPSERVE_RETURN_IF_ERROR(Enter());
  static_cast<RemoteEvent&>(event).RecordOn(stream_);
  return absl::OkStatus();
}

absl::Status RemoteStream::Wait(const ProvidedEvent& event) {
  OPSERVE_RETURN_IF_ERROR(Enter());
  return static_cast<const RemoteEvent&>(event).HoldUp(stream_);
}

// Where time is short an event is waited for first: what the server reached in time counts, also
// when it says so a little later.
RemoteStream::Synchronized RemoteStream::Synchronize(absl::Duration timeout) {
  absl::Status failure = Enter();
  if (!failure.ok()) return {.in_time = true, .failure = std::move(failure)};
  const absl::Time end = Clock::Real().Now() + timeout;
  if (timeout != absl::InfiniteDuration()) {
    const client::Event tail = context_.CreateEvent();
    stream_.Record(tail);
    const absl::StatusOr<bool> reached = AwaitEvent(session_, tail, timeout);
    if (!reached.ok()) return {.in_time = true, .failure = reached.status()};
    if (!*reached) return {.in_time = false, .failure = {}};
  }
  failure = stream_.Synchronize({.timeout = std::max(end - Clock::Real().Now(), kLastWord)});
  if (IsTooLate(failure) && session_.CheckAlive().ok()) return {.in_time = false, .failure = {}};
  failure = believed_.ReasonOf(std::move(failure));
  const absl::Status damage = damage_->Take();
  if (failure.ok()) failure = damage;
  if (failure.ok()) failure = transfers_.TakeFailure();
  return {.in_time = true, .failure = session_.Told(std::move(failure))};
}

absl::StatusOr<bool> RemoteStream::IsIdle() {
  OPSERVE_RETURN_IF_ERROR(Enter());
  absl::StatusOr<bool> idle = stream_.Query();
  if (idle.ok()) return idle;
  return session_.Told(idle.status());
}

}  // namespace opserve::acl
