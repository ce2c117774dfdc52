// One session: takes commands, keeps the objects that they make, and answers them. Answers go to a
// Flow, from which the transport sends them.
#pragma once

#include <atomic>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "core/base/mutex.h"
#include "server/session/flow.h"
#include "server/session/session_state.h"

namespace opserve::server {

class Session {
 public:
  // `engine` and `clock` must outlive the session and the work that it starts; `plans` and
  // `open_streams` must outlive the session. The first answer is SessionInfo.
  Session(Engine& engine, PlanCache& plans, OpenStreams& open_streams, const Clock& clock,
          const SessionLimits& limits, std::shared_ptr<Flow> flow);
  ~Session() { Close(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Performs or starts one command, without blocking. One thread at a time. If the command fails,
  // its answer says so. An error that this returns ends the session: 161002 for an id that is not
  // greater than the one before, or for a message without a command.
  absl::Status Take(Command command);

  // The client sends no more commands: calls that still need input fail. On the thread of Take.
  void EndOfCommands();

  // Tells the client that the server drains. Any thread.
  void AnnounceDrain();

  // Drops waiting work and releases everything. Work that runs stops soon and releases its memory
  // then. Any thread, any number of times.
  void Close();
  // The part of Close that is done in no time: work is dropped or stops. When true, Clear must
  // follow.
  [[nodiscard]] bool Stop();
  void Clear() { state_.Clear(); }

 private:
  // Whether `state_` may be touched now; LeaveState must follow.
  bool EnterState();
  void LeaveState();
  void Perform(Command command);

  const std::shared_ptr<Flow> flow_;
  Mutex mutex_;
  bool busy_ ABSL_GUARDED_BY(mutex_) = false;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t last_id_ = 0;  // the thread of Take
  SessionState state_;    // whoever made `busy_` true
};

}  // namespace opserve::server
