// One command from when it was taken to its last answer.
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

// Until when a command may wait for its turn and run.
struct CommandDeadline {
  absl::Time time = absl::InfiniteFuture();
  const Clock* clock =
      nullptr;  // must outlive the command; may be none for a time that is infinite

  bool has_passed() const { return time != absl::InfiniteFuture() && clock->Now() > time; }
};

// Thread-safe. Shared by whatever works for the command; the first Finish is its last answer. A
// ticket that goes unfinished finishes as cancelled.
class Ticket {
 public:
  enum class Answers : uint8_t { kAlways, kOnFailure };

  // The command counts in `flow` (BeginCommand) already, its `held_bytes` do not yet.
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
  // It was cancelled, or the session is over.
  bool is_cancelled() const {
    return cancelled_.load(std::memory_order_relaxed) || flow_->is_closed();
  }
  absl::Time deadline() const { return deadline_.time; }
  // OK while it is to go on. Otherwise what it fails with, as it is not to begin, or is to stop.
  absl::Status CheckGoesOn() const;
  // What it fails with as it was stopped.
  absl::Status Stopped() const;

  // An answer that is not the last: dropped when that was sent. `answer.header` needs neither id
  // nor `more`.
  void Send(Answer answer);
  void SendReserved(Answer answer, int64_t reserved);

  void Finish(const absl::Status& status) { Finish(status, Answer()); }
  // Of several ends the first counts. `answer` goes with OK only.
  void Finish(const absl::Status& status, Answer answer);
  // As Finish(status) where `command` is at fault.
  void FinishBlaming(const absl::Status& status, uint64_t command);

  // `bytes` more are kept for the command.
  void Hold(int64_t bytes);
  // Nothing is kept for it any more; Finish does it too.
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
