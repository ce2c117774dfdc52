// Streams and events of core, as the C interface sees them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "absl/base/thread_annotations.h"
#include "client/acl/provider/provider.h"
#include "client/acl/provider/stream_end.h"
#include "core/base/mutex.h"
#include "core/device/context.h"
#include "core/device/event.h"
#include "core/device/stream.h"
#include "core/engine/executor.h"

namespace opserve::acl {

class LocalEvent final : public ProvidedEvent {
 public:
  absl::StatusOr<bool> Query() override { return event_.Query(); }
  absl::StatusOr<bool> Await(absl::Duration timeout) override;
  absl::StatusOr<absl::Duration> TimeUntil(const ProvidedEvent& end) const override;

  Event& event() { return event_; }
  const Event& event() const { return event_; }

 private:
  Event event_;
};

class LocalPlan final : public ProvidedPlan {
 public:
  explicit LocalPlan(std::shared_ptr<Executor> executor) : executor_(std::move(executor)) {}

  int64_t workspace_bytes() const override {
    return static_cast<int64_t>(executor_->plan().workspace_bytes);
  }
  absl::Status SetStorages(
      std::span<const std::pair<std::string_view, MemoryView>> storages) override;

  Executor& executor() { return *executor_; }

 private:
  const std::shared_ptr<Executor> executor_;
};

class LocalStream final : public ProvidedStream {
 public:
  LocalStream(std::shared_ptr<Context> context, Device& device);
  ~LocalStream() override;

  absl::Status Upload(const MemoryView& to, std::span<const std::byte> from) override;
  absl::Status Download(const MemoryView& from, std::span<std::byte> to) override;
  absl::Status Copy(const MemoryView& from, const MemoryView& to, int64_t bytes) override;
  absl::Status Fill(const MemoryView& to, std::byte value, int64_t bytes) override;
  absl::Status Execute(ProvidedPlan& plan, const MemoryView& workspace) override;
  absl::Status Record(ProvidedEvent& event) override;
  absl::Status Wait(const ProvidedEvent& event) override;
  Synchronized Synchronize(absl::Duration timeout) override;
  absl::StatusOr<bool> IsIdle() override { return tail_.Query(); }

 private:
  // The first failure that nobody was told of. Work that runs outlives the stream.
  struct Failures {
    void Note(const absl::Status& status);
    absl::Status Take();

    Mutex mutex;
    absl::Status first ABSL_GUARDED_BY(mutex);
  };

  void Enqueue(absl::AnyInvocable<absl::Status()> run);

  const std::shared_ptr<Context> context_;
  Device& device_;
  const std::shared_ptr<Stream> stream_;
  const std::shared_ptr<Failures> failures_ = std::make_shared<Failures>();
  Event tail_;  // recorded behind all that was put on the stream
  StreamEnd end_;
};

}  // namespace opserve::acl
