// One command from when it was taken to its last answer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "core/base/mutex.h"
#include "server/session/flow.h"

namespace opserve::server {

// Thread-safe. Shared by whatever works for the command; the first Finish is its last answer. A
// ticket that goes unfinished finishes as cancelled.
class Ticket {
 public:
  enum class Answers : uint8_t { kAlways, kOnFailure };

  // The command counts in `flow` (BeginCommand) already, its `held_bytes` do not yet.
  Ticket(std::shared_ptr<Flow> flow, uint64_t id, Answers answers, int64_t held_bytes);
  ~Ticket();
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

  uint64_t id() const { return id_; }
  bool is_quiet() const { return answers_ == Answers::kOnFailure; }
  Flow& flow() const { return *flow_; }
  bool is_finished() const;

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
  mutable Mutex mutex_;
  int64_t held_bytes_ ABSL_GUARDED_BY(mutex_);
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace opserve::server
