// Streams of a session, as the C interface sees them.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include <opserve/session.h>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/acl/provider/provider.h"
#include "client/acl/provider/stream_end.h"
#include "client/acl/remote/lent_memory.h"
#include "client/acl/remote/server_session.h"
#include "client/acl/remote/transfers.h"
#include "core/base/mutex.h"
#include "core/base/waiter.h"

namespace opserve::acl {

// Nothing but Synchronize and IsIdle waits for the server. So what the server alone can check (an
// executor on two streams at once, too many commands under way) is told by Synchronize.
class RemoteStream final : public ProvidedStream {
 public:
  RemoteStream(ServerSession& session, Transfers& transfers, client::Stream stream)
      : session_(session), transfers_(transfers), stream_(std::move(stream)) {}
  // Waits until no host memory is read or written for it.
  ~RemoteStream() override;

  absl::Status Upload(const MemoryView& to, std::span<const std::byte> from) override;
  absl::Status Download(const MemoryView& from, std::span<std::byte> to) override;
  absl::Status Copy(const MemoryView& from, const MemoryView& to, int64_t bytes) override;
  absl::Status Fill(const MemoryView& to, std::byte value, int64_t bytes) override;
  absl::Status Execute(ProvidedPlan& plan, const MemoryView& workspace) override;
  absl::Status Record(ProvidedEvent& event) override;
  absl::Status Wait(const ProvidedEvent& event) override;
  Synchronized Synchronize(absl::Duration timeout) override;
  absl::StatusOr<bool> IsIdle() override;

 private:
  // The first failure that nobody was told of. Answers outlive the stream.
  struct Failures {
    void Note(absl::Status status);
    absl::Status Take();

    Mutex mutex;
    absl::Status first ABSL_GUARDED_BY(mutex);
  };

  // What became of executors that were executed and are believed to be there: of the newest, a
  // bounded number.
  class Believed {
   public:
    void Add(const client::Executor& executor);
    // Forgets them. Why the first one that is missing could not be made; `failure` where none is.
    absl::Status ReasonOf(absl::Status failure);

   private:
    Mutex mutex_;
    using Outcome = std::function<absl::Status(const client::CallOptions&)>;
    std::deque<Outcome> outcomes_ ABSL_GUARDED_BY(mutex_);
  };

  // Before each command, and behind what is put on the stream.
  absl::Status Enter();
  absl::Status Put(absl::Status sent);
  // Of what is on the stream now.
  Loans LoansNow();
  bool AwaitEnd(const Waiter<bool>& ended, absl::Time end);

  ServerSession& session_;
  Transfers& transfers_;
  client::Stream stream_;
  std::atomic<uint64_t> joined_{0};
  // What the server told of a synchronization, and of downloads.
  const std::shared_ptr<Failures> told_ = std::make_shared<Failures>();
  const std::shared_ptr<Failures> damage_ = std::make_shared<Failures>();
  const std::shared_ptr<LentMemory> lent_ = std::make_shared<LentMemory>();
  StreamEnd end_;
  Mutex mutex_;
  Loans awaited_ ABSL_GUARDED_BY(mutex_);  // of events that it waits for
  Believed believed_;
};

}  // namespace opserve::acl
