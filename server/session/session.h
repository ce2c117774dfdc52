// One session: takes commands, keeps what they make, answers them. It knows no transport: answers
// go to a Flow.
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
  // `engine` and `clock` must outlive the session and the work that it leaves behind, `plans` and
  // `open_streams` the session. The first answer is SessionInfo.
  Session(Engine& engine, PlanCache& plans, OpenStreams& open_streams, const Clock& clock,
          const SessionLimits& limits, std::shared_ptr<Flow> flow);
  ~Session() { Close(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Does or starts one command; never blocks for long. One thread at a time. The command's own
  // failure is an answer; an error here ends the session: 161002 for an id that is not greater than
  // the one before, or no command.
  absl::Status Take(Command command);

  // The client sends no more: calls that still want input fail. The thread of Take.
  void EndOfCommands();

  // Tells the client that the server drains. Any thread.
  void AnnounceDrain();

  // Drops what waits and lets go of everything: work that runs ends by itself. Any thread, any
  // number of times.
  void Close();

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
