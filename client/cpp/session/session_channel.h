// The commands of one session, on their way out, and the answers to them.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <opserve/session_info.h>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cpp/session/sent_commands.h"
#include "client/cpp/transport/connection.h"
#include "client/cpp/transport/message_stream.h"
#include "client/cpp/wire/call_messages.h"
#include "client/cpp/wire/expected_answer.h"
#include "client/cpp/wire/outgoing_message.h"
#include "client/cpp/wire/session_answer.h"
#include "core/base/mutex.h"

namespace opserve::client {

// Called with each answer to a command, on a thread of the transport; or once, on the thread that
// sends, when the session is over. The last call has `last` set. When the session ends before the
// command is answered, that is an answer with the session's status. May set `objection`.
using OnAnswer = absl::AnyInvocable<void(SessionAnswer&)>;

struct Command {
  v1::Command message;        // without id and quiet
  std::vector<RawEntry> raw;  // that its raw_index counts; owned, unless AppendRaw copies them
  std::string meaning;        // for errors: "Upload"
  // Whose Synchronize tells of a failure that nothing waits for. 0, 0: nobody's.
  uint64_t stream = 0;
  uint64_t context = 0;
  bool may_wait = false;  // as a quiet one may, though its answer is asked for
};

// Thread-safe. Lives as long as the RPC at least.
class SessionChannel final : public MessageStream::Listener,
                             public std::enable_shared_from_this<SessionChannel> {
 public:
  SessionChannel(std::string target, RpcOptions options, absl::AnyInvocable<void()> on_draining);

  // Once, before all else.
  void Start(Connection& connection);

  // Ids of objects: contexts, streams, …; and that one is there no more.
  uint64_t NewObject();
  void Forget(uint64_t object);

  // Commands go out in the order of these calls as the transport takes them; small ones that wait
  // go together in one message. The first form is a quiet command: its failure is kept for
  // TakeFailure, and when it is small, it may wait a millisecond for others to go with: a call that
  // is executed, then synchronized, is one message. Returns the command's id, or 0 when the session
  // is over.
  uint64_t Send(Command command);
  uint64_t Send(Command command, OnAnswer on_answer);
  // Asks the server to drop a command, if `id` is one. Its answers come nonetheless.
  void CancelCommand(uint64_t id);
  // Waits until the transport has not yet taken at most so many bytes, or for the session's end.
  void WaitForTransport(size_t most_bytes);
  // Nothing is sent after this.
  void HalfClose();
  void Cancel();

  // Waits for the notice that every session begins with, or for the session's end.
  absl::Status WaitForInfo(absl::Time deadline);
  // The status that the session ended with; nullopt at `deadline`.
  std::optional<absl::Status> WaitForEnd(absl::Time deadline);

  // Since WaitForInfo said OK.
  const SessionInfo& info() const { return info_; }
  const std::string& target() const { return target_; }
  bool draining() const;
  // OK while the session goes on and is not half-closed; then what commands fail with.
  absl::Status status() const;

  // When a wait that may take `timeout` ends: no later than shortly after the session's own end.
  absl::Time Deadline(absl::Duration timeout) const;
  // What a wait for `what` that was too long ends with.
  absl::Status TooLate(const std::string& what) const;

  // The first failure that was kept for a stream, or for its context; forgets it. Stream 0: all of
  // the context's. What was kept for a stream that is there no more is its context's.
  absl::Status TakeFailure(uint64_t stream, uint64_t context);
  // As if a quiet command had failed.
  void Keep(const absl::Status& status, uint64_t stream, uint64_t context);
  // `status`, saying which command failed.
  absl::Status Explain(const absl::Status& status, uint64_t command) const;

  // MessageStream::Listener
  void OnMessage(const Fragments& message) override;
  void OnWritten() override;
  void OnEnded(absl::Status status) override;

 private:
  using Handler = std::shared_ptr<OnAnswer>;
  struct Pending {
    Handler handler;
    ExpectedAnswer expected;
  };

  absl::Status CheckSize(size_t bytes, const std::string& meaning) const;
  uint64_t SendWith(Command command, const Handler& handler);
  // Adds a command to the last message that waits, or as one of its own. Returns its id.
  uint64_t Queue(OutgoingMessage message, SentCommand command)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Sees to it that what waits now goes out before long.
  void FlushSoon();
  void Flush();
  // Writes what is due, unless something is being written.
  void Pump();
  void Deliver(SessionAnswer& answer);
  // INTERNAL for an answer that no command of ours can have.
  // `handler` gets who waits for it, if anybody does.
  absl::Status Accept(const SessionAnswer& answer, Handler& handler)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The same for an answer that nobody waits for.
  absl::Status AcceptFailure(const SessionAnswer& answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnNotice(const SessionAnswer& answer);
  absl::Status Explained(const absl::Status& status, uint64_t command) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends the session, and all waits at once, because the server talks nonsense.
  void Fault(const absl::Status& status);
  absl::Status Closed() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string target_;
  const RpcOptions options_;
  const absl::Time deadline_;
  std::shared_ptr<MessageStream> stream_;  // set by Start
  SessionInfo info_;                       // written before has_info_

  mutable Mutex mutex_;
  CondVar changed_;
  absl::AnyInvocable<void()> on_draining_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_object_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<OutgoingMessage> queue_ ABSL_GUARDED_BY(mutex_);  // what is written is not in it
  size_t queued_bytes_ ABSL_GUARDED_BY(mutex_) = 0;   // about, and what is written is in it
  size_t written_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of what is written
  SentCommands sent_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint64_t, Pending> pending_ ABSL_GUARDED_BY(mutex_);
  KeptFailures failures_ ABSL_GUARDED_BY(mutex_);
  bool has_info_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool due_ ABSL_GUARDED_BY(mutex_) = false;          // what waits may wait no longer
  bool flush_comes_ ABSL_GUARDED_BY(mutex_) = false;  // Flush will be called
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<absl::Status> fault_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::client
