// One Session RPC: gRPC's reads and writes for a Session and its Flow.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"
#include "server/session/session.h"
#include "server/tracing/call_record.h"
#include "server/transport/messages/session_messages.h"
#include "server/transport/services/session_service.h"

namespace opserve::server {

inline constexpr std::string_view kSessionMethod = "Session";

// Whose a session is.
struct SessionOwner {
  ClientId client = ClientId::kNone;
  std::shared_ptr<Connection> connection;  // nullptr where there is no telling
  absl::AnyInvocable<void()> on_end;       // called when nothing of the session is left
};

// Reads when the flow has room, writes what it has, one of each at a time; ends when the client has
// half-closed and all is answered, or when it went away. The commands of a message are taken on the
// thread that read it; when there are many, after a while on the first device's workers, in turns
// with others' work, and only while the flow has room. Meanwhile only full messages are sent. Kept
// by itself until OnDone.
class SessionCall final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                          public std::enable_shared_from_this<SessionCall> {
 public:
  static std::shared_ptr<SessionCall> Start(Engine& engine, const SessionServiceOptions& options,
                                            SessionOwner owner,
                                            grpc::CallbackServerContext& context);
  ~SessionCall() override;

  // Before each Tick, for all sessions first: stops the work of one whose connection is over. gRPC
  // may take long to say so where many end at once.
  void StopIfLeft();
  // Now and then: cuts a client that takes no answers, ends a session that is drained, was idle for
  // long or whose connection is over, and sees whether there is room again.
  void Tick(absl::Time now);
  void Drain();

 private:
  SessionCall(Engine& engine, const SessionServiceOptions& options, SessionOwner owner,
              grpc::CallbackServerContext& context);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  absl::Status OpenRead();
  // Charges the message, of so many bytes, while it waits for its turn or for room.
  absl::Status Charge(size_t message_bytes);
  // Takes commands of the message that was read, which it opens first, for about so long, while
  // there is room for what they say. `taking_` is kNow.
  void TakeCommands(absl::Duration time);
  // Likewise, on a worker.
  void TakeTurn();
  // Starts whatever may be started.
  void Advance();
  void AdvanceWrite() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Counts a command that failed; its line in the log.
  void ReportFailed(const Answer& answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CountWork() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(const absl::Status& status);
  bool HasRead();
  // The session's line in the log.
  void Report();
  void FinishWith(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Cut() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Engine& engine_;
  const SessionServiceOptions options_;
  SessionOwner owner_;
  grpc::CallbackServerContext& context_;
  const std::shared_ptr<Flow> flow_;
  Session session_;
  // By StopIfLeft, whose thread is Tick's.
  bool is_stopped_ = false;
  bool must_clear_ = false;
  std::shared_ptr<SessionCall> self_;
  // Of the read, then of who takes.
  grpc::ByteBuffer in_;
  bool is_unopened_ = false;
  CommandReader reader_;
  HostCharge charge_;

  // For Report.
  CallRecord record_;
  std::atomic<int64_t> commands_ = 0;
  std::atomic<size_t> request_bytes_ = 0;

  Mutex mutex_;
  size_t response_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t failed_commands_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);  // once it is finished
  grpc::ByteBuffer out_ ABSL_GUARDED_BY(mutex_);
  size_t out_answers_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t out_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // What becomes of the commands of the message that was read last. While they are taken nothing is
  // sent, while they are queued no message that is not full: what they have to say goes together.
  enum class Taking : uint8_t { kDone, kNow, kWaitsForRoom, kQueued };
  Taking taking_ ABSL_GUARDED_BY(mutex_) = Taking::kDone;
  bool has_read_ ABSL_GUARDED_BY(mutex_) = false;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;  // until all of the message was taken
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool half_closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  bool counted_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Time write_start_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  absl::Time finish_start_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  absl::Time idle_since_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::server
