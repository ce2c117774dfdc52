// One Session RPC: gRPC's reads and writes for a Session and its Flow.
#pragma once

#include <atomic>
#include <memory>

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"
#include "server/services/session_service.h"
#include "server/session/session.h"

namespace opserve::server {

// Reads when the flow has room, writes what it has, one of each at a time; ends when the client has
// half-closed and all is answered, or when it went away. Kept by itself until OnDone.
class SessionCall final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                          public std::enable_shared_from_this<SessionCall> {
 public:
  static std::shared_ptr<SessionCall> Start(Engine& engine, const SessionServiceOptions& options,
                                            grpc::CallbackServerContext& context);
  ~SessionCall() override;

  // Now and then: cuts a client that takes no answers, ends a drained session.
  void Tick(absl::Time now);
  void Drain();

 private:
  SessionCall(Engine& engine, const SessionServiceOptions& options,
              grpc::CallbackServerContext& context);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  // Commands until one is at fault.
  absl::Status TakeRead();
  // Starts whatever may be started.
  void Advance();
  void AdvanceWrite() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CountWork() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(const grpc::Status& status);
  void FinishWith(const grpc::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Cut() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const SessionServiceOptions options_;
  grpc::CallbackServerContext& context_;
  const std::shared_ptr<Flow> flow_;
  Session session_;
  std::shared_ptr<SessionCall> self_;
  grpc::ByteBuffer in_;  // the read's

  Mutex mutex_;
  grpc::ByteBuffer out_ ABSL_GUARDED_BY(mutex_);
  size_t out_answers_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t out_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // Commands of one message are being taken: what they have to say goes together.
  bool taking_ ABSL_GUARDED_BY(mutex_) = false;
  bool grouped_ ABSL_GUARDED_BY(mutex_) = false;  // the client knows groups of answers
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool half_closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  bool counted_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Time write_start_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  absl::Time finish_start_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  absl::Time idle_since_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
};

}  // namespace opserve::server
