// Clients that do not take their answers: each holds memory until it is taken.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>

#include <grpcpp/server_context.h>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/client_id.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "server/connections/connection_table.h"
#include "server/session/host_memory.h"
#include "server/transport/unary/call_sample.h"
#include "server/transport/unary/gate.h"

namespace opserve::server {

// Unary answers on their way. Thread-safe.
class AnswerWatch {
  struct Answer;

 public:
  // Smaller ones hold next to nothing, and are neither watched nor charged, but counted.
  static constexpr size_t kWatchedBytes = size_t{64} << 10;
  // That a client has not taken yet: each costs gRPC CPU time when its client leaves.
  static constexpr int64_t kMostSmallOfClient = 512;
  static constexpr int64_t kMostLargeOfClient = 512;
  // Of a client that leaves more, and has taken none for a while, each connection may leave few:
  // others at the same address are served.
  static constexpr int64_t kMostSmallOfStalled = 64;
  static constexpr absl::Duration kStallTime = absl::Milliseconds(100);
  static constexpr int64_t kMostSmallOfStalledConnection = 16;
  // A client that sends so many more calls, and takes none of those answers meanwhile, is cut.
  static constexpr int64_t kMostRefusedOfClient = 128;

  // An answer that is leaving; over when the object goes, which must be before its context does.
  class Watched {
   public:
    Watched() = default;
    ~Watched() { End(); }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

   private:
    friend class AnswerWatch;
    void End();
    AnswerWatch* watch_ = nullptr;
    // As a small one it is no more than a count of its client's.
    ClientId client_ = ClientId::kNone;
    const Connection* connection_ = nullptr;  // which may be gone
    int64_t small_ = 0;
    std::optional<std::list<Answer>::iterator> large_;
  };

  // An answer may take `timeout`, and a second for each MiB of it; 0: for ever. The others must
  // outlive the watch.
  AnswerWatch(absl::Duration timeout, const ConnectionTable& connections, HostMemory& memory,
              const Clock& clock)
      : timeout_(timeout), connections_(connections), memory_(memory), clock_(clock) {}

  // Whether some client leaves many small answers: from now on every call is to be looked at.
  bool is_crowded() const { return crowds_.load(std::memory_order_relaxed) > 0; }
  // Whether this one leaves so many, of any size, that it is to open connections slowly.
  bool IsCrowd(ClientId client);

  // How large an answer is. Its `host_bytes` are no device's, and charged to the caller as host
  // memory. What nothing was computed for is counted as a small one whatever its size: nobody
  // needs many at a time.
  struct Size {
    const Caller& caller;
    size_t bytes = 0;
    size_t host_bytes = 0;
    bool is_computed = true;
  };
  // From now on the call is answered. RESOURCE_EXHAUSTED when there is no memory for that, or when
  // the client has not taken too many others yet. Once for each `watched`.
  absl::Status Begin(const CallSample& sample, grpc::CallbackServerContext& context,
                     const Size& size, Watched& watched);

  // To be called now and then: cancels the calls whose clients take too long, and cuts the
  // connections of those that hold their answers even then.
  void Tick();

 private:
  struct Answer {
    grpc::CallbackServerContext* context;
    // gRPC forgets a call's peer when the call is cancelled.
    std::shared_ptr<Connection> connection;
    absl::Time deadline;
    ClientId client = ClientId::kNone;
    int64_t host_bytes = 0;
    bool is_cancelled = false;
  };

  struct SmallOfClient {
    int64_t left = 0;
    int64_t refused = 0;  // since it took one
    absl::Time taken;     // when it took one last, or got the first
    absl::flat_hash_map<const Connection*, int64_t> of_connections;  // `left`, by where they go
  };

  bool MayLeave(const SmallOfClient& small, const Connection* connection, int64_t more) const;
  absl::Status BeginSmall(const CallSample& sample, Watched& watched);
  void EndSmall(const Watched& watched);
  absl::Status BeginLarge(grpc::CallbackServerContext& context, const Size& size, Watched& watched);
  absl::Status Take(const Answer& answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndLarge(std::list<Answer>::iterator answer);

  const absl::Duration timeout_;
  const ConnectionTable& connections_;
  HostMemory& memory_;
  const Clock& clock_;
  Mutex mutex_;
  std::list<Answer> answers_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<ClientId, SmallOfClient> small_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<ClientId, int64_t> large_ ABSL_GUARDED_BY(mutex_);  // how many
  std::atomic<int64_t> crowds_ = 0;  // clients with many of them
};

}  // namespace opserve::server
