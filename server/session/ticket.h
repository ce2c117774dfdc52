// One command, from its arrival to its last answer.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "server/session/flow.h"

namespace opserve::server {

// The time by which a command must have finished.
struct CommandDeadline {
  absl::Time time = absl::InfiniteFuture();
  const Clock* clock =
      nullptr;  // must outlive the command; may be none for a time that is infinite

  bool has_passed() const { return time != absl::InfiniteFuture() && clock->Now() > time; }
};

// Thread-safe. Shared by everything that works for the command. The first Finish sends the last
// answer, and later ones do nothing. A ticket that is destroyed unfinished ends as cancelled.
class Ticket {
 public:
  enum class Answers : uint8_t { kAlways, kOnFailure };

  // Flow::BeginCommand has counted the command already; this counts its `held_bytes`.
  Ticket(std::shared_ptr<Flow> flow, uint64_t id, Answers answers, int64_t held_bytes,
         const CommandDeadline& deadline);
  ~Ticket();
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

  uint64_t id() const { return id_; }
  bool is_quiet() const { return answers_ == Answers::kOnFailure; }
  Flow& flow() const { return *flow_; }
  bool is_finished() const { return finished_.load(std::memory_order_acquire); }

  // From now on Flow::Cancel finds it, unless it has finished.
  void MakeCancellable();
  // Whether the command was cancelled, or the session is over.
  bool is_cancelled() const {
    return cancelled_.load(std::memory_order_relaxed) || flow_->is_closed();
  }
  absl::Time deadline() const { return deadline_.time; }
  // OK while the command should begin or continue; otherwise the status that it must end with.
  absl::Status CheckGoesOn() const;
  // The status of a command that was stopped: cancelled, or past its deadline.
  absl::Status Stopped() const;

  // Sends an answer before the last one; dropped once the last was sent. The id and `more` of
  // `answer.header` are filled in here.
  void Send(Answer answer);
  void SendReserved(Answer answer, int64_t reserved);

  void Finish(const absl::Status& status) { Finish(status, Answer()); }
  // Only the first Finish counts. `answer` is sent only if `status` is OK.
  void Finish(const absl::Status& status, Answer answer);
  // As Finish(status), and names `command` as the one that failed.
  void FinishBlaming(const absl::Status& status, uint64_t command);

  // Counts `bytes` more that are kept for the command.
  void Hold(int64_t bytes);
  // The command keeps nothing any more. Finish does this, too.
  void ReleaseHeld();

 private:
  void End(std::optional<Answer> answer);

  const std::shared_ptr<Flow> flow_;
  const uint64_t id_;
  const Answers answers_;
  const CommandDeadline deadline_;
  std::atomic<bool> cancelled_ = false;
  mutable Mutex mutex_;
  int64_t held_bytes_ ABSL_GUARDED_BY(mutex_);
  bool is_cancellable_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> finished_ = false;  // changes under the mutex
};

}  // namespace opserve::server
