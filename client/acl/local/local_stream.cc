#include "client/acl/local/local_stream.h"

#include <string>
#include <utility>
#include <vector>

#include "client/acl/local/local_device.h"
#include "core/base/clock.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/waiter.h"

namespace opserve::acl {
absl::StatusOr<bool> LocalEvent::Await(absl::Duration timeout) {
  OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<Marker> marker, event_.Latest());
  const Waiter<bool> reached;
  marker->OnReached([reached] { reached.Set(true); });
  return reached.Wait(Clock::Real().Now() + timeout).has_value();
}

absl::StatusOr<absl::Duration> LocalEvent::TimeUntil(const ProvidedEvent& end) const {
  return ElapsedTime(event_, static_cast<const LocalEvent&>(end).event());
}

absl::Status LocalPlan::SetStorages(
    std::span<const std::pair<std::string_view, MemoryView>> storages) {
  std::vector<std::pair<std::string, StorageView>> tensors;
  for (const auto& [name, view] : storages)
    tensors.emplace_back(std::string(name), ToStorageView(view));
  return executor_->SetTensors(tensors);
}

void LocalStream::Failures::Note(const absl::Status& status) {
  if (status.ok()) return;
  MutexLock lock(mutex);
  if (first.ok()) first = Unshared(status);
}

absl::Status LocalStream::Failures::Take() {
  MutexLock lock(mutex);
  return std::exchange(first, absl::OkStatus());
}

LocalStream::LocalStream(std::shared_ptr<Context> context, Device& device)
    : context_(std::move(context)),
      device_(device),
      stream_(context_->CreateStream(opserve::Stream::OnFailure::kContinue)) {
  stream_->Record(tail_);
}

LocalStream::~LocalStream() { context_->DestroyStream(stream_).IgnoreError(); }

void LocalStream::Enqueue(absl::AnyInvocable<absl::Status()> run) {
  auto done = [failures = failures_](const absl::Status& status) { failures->Note(status); };
  stream_->Enqueue(
      opserve::Stream::Command{.id = 0, .run = std::move(run), .done = std::move(done)});
  stream_->Record(tail_);
  end_.Put();
}

absl::Status LocalStream::Upload(const MemoryView& to, std::span<const std::byte> from) {
  Enqueue([&device = device_, to, from] {
    return device.Upload(RangeAt(to, static_cast<int64_t>(from.size())), Fragments(from));
  });
  return absl::OkStatus();
}

absl::Status LocalStream::Download(const MemoryView& from, std::span<std::byte> to) {
  Enqueue([&device = device_, from, to] {
    return device.Download(RangeAt(from, static_cast<int64_t>(to.size())), 0, to);
  });
  return absl::OkStatus();
}

absl::Status LocalStream::Copy(const MemoryView& from, const MemoryView& to, int64_t bytes) {
  Enqueue([&device = device_, from, to, bytes] {
    return device.Copy(RangeAt(from, bytes), RangeAt(to, bytes));
  });
  return absl::OkStatus();
}

absl::Status LocalStream::Fill(const MemoryView& to, std::byte value, int64_t bytes) {
  Enqueue([&device = device_, to, value, bytes] {
    return device.Fill(RangeAt(to, bytes), std::span(&value, 1));
  });
  return absl::OkStatus();
}

absl::Status LocalStream::Execute(ProvidedPlan& plan, const MemoryView& workspace) {
  Executor& executor = static_cast<LocalPlan&>(plan).executor();
  OPSERVE_ASSIGN_OR_RETURN(Execution execution, executor.Begin(stream_, ToStorageView(workspace)));
  Enqueue([execution = std::move(execution)]() mutable { return execution.Run(); });
  return absl::OkStatus();
}

absl::Status LocalStream::Record(ProvidedEvent& event) {
  stream_->Record(static_cast<LocalEvent&>(event).event());
  end_.Put();
  return absl::OkStatus();
}

absl::Status LocalStream::Wait(const ProvidedEvent& event) {
  OPSERVE_RETURN_IF_ERROR(stream_->WaitFor(static_cast<const LocalEvent&>(event).event()));
  stream_->Record(tail_);
  end_.Put();
  return absl::OkStatus();
}

LocalStream::Synchronized LocalStream::Synchronize(absl::Duration timeout) {
  const Waiter<bool> ended = end_.Await([this](const Waiter<bool>& waiter) {
    stream_->Synchronize(
        [waiter](const opserve::Stream::Failure& /*told by the commands*/) { waiter.Set(true); });
  });
  if (!ended.Wait(Clock::Real().Now() + timeout)) return {.in_time = false, .failure = {}};
  end_.Came();
  return {.in_time = true, .failure = failures_->Take()};
}

}  // namespace opserve::acl
