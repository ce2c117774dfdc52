// What is on its way in and out of one session: answers that wait to be sent, uploads that wait to
// be used, commands that are not over. It knows how much of each there is, so the transport knows
// when to read and the senders when to make more.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "core/base/mutex.h"
#include "core/device/memory_pool.h"
#include "opserve/v1/session.pb.h"
#include "server/counters/server_counters.h"
#include "server/session/host_memory.h"
#include "server/session/under_way.h"

namespace opserve::server {

// An answer, and the raw entries that it names, from 0 on.
struct Answer {
  v1::Answer header;
  std::vector<PooledBuffer> raw;

  int64_t size_bytes() const;
};

// Thread-safe. No callback is called with a lock held.
class Flow {
 public:
  // Reading stops above `window_bytes` of uploads, or of answers, and while the client has no host
  // memory left. Commands are counted in `counters`, which must outlive it.
  Flow(int64_t window_bytes, std::shared_ptr<SessionMemory> memory, ServerCounters& counters)
      : window_bytes_(window_bytes), memory_(std::move(memory)), counters_(counters) {}

  // The session's memory, to which uploads and answers are charged while they wait.
  const std::shared_ptr<SessionMemory>& memory() const { return memory_; }

  // ---- for the transport ----

  // `wake` is called, on whatever thread, when there may be something to send, room to read, or an
  // end. Before anything else.
  void Attach(std::shared_ptr<const absl::AnyInvocable<void() const>> wake);

  // The next answers to send: one, and those behind it while all together have no more than
  // `max_bytes`. Sent(their number and size) when the transport has taken them.
  std::vector<Answer> Next(int64_t max_bytes);
  void Sent(size_t answers, int64_t bytes);
  // Next has one.
  bool HasAnswer() const;
  bool MayRead() const;
  // No command is under way and every answer was sent.
  bool IsIdle() const;
  // Answers that are not sent yet.
  int64_t unsent_bytes() const;
  // Now and then: looks again whether there is room, which others may have made.
  void LookAgain();
  // Nothing is sent any more; who waits for room is told that there will be none. `wake` is let go.
  void Close();
  bool is_closed() const { return closed_.load(std::memory_order_relaxed); }

  // ---- for commands ----

  void Send(Answer answer);
  // As SendReserved, for who holds a lock: Wake must follow without it.
  void Post(Answer answer, int64_t reserved);
  void Wake();

  // Calls `ready`, here and now or later, when `bytes` more may be sent: they count as unsent from
  // then on, and SendReserved sends them. First come, first served. `ready(false)`: the session is
  // over.
  void Reserve(int64_t bytes, absl::AnyInvocable<void(bool)> ready);
  // An answer of `reserved` bytes. The difference to its real size is made up for.
  void SendReserved(Answer answer, int64_t reserved);
  void Unreserve(int64_t bytes);

  // What the session keeps for commands that wait: their uploads above all.
  void Hold(int64_t bytes);
  void Release(int64_t bytes);

  // False, and nothing done, when `max` commands are under way.
  bool BeginCommand(int64_t max);
  // From now until it ends Cancel sets `cancelled`. Each id is greater than those before.
  void MakeCancellable(uint64_t id, std::atomic<bool>& cancelled);
  void Cancel(uint64_t id);
  // With its last answer, and what was held for it. `cancellable`: its id where MakeCancellable was
  // called; 0.
  void EndCommand(std::optional<Answer> answer, int64_t released_bytes, uint64_t cancellable);

 private:
  struct Waiter {
    int64_t bytes;
    absl::AnyInvocable<void(bool)> ready;
  };

  bool HasRoom(int64_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Who may go on now; call them without the lock.
  std::vector<Waiter> TakeReady() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Both count with the session's memory, too.
  void AddUnsent(int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddHeld(int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int64_t window_bytes_;
  const std::shared_ptr<SessionMemory> memory_;
  ServerCounters& counters_;
  mutable Mutex mutex_;
  std::shared_ptr<const absl::AnyInvocable<void() const>> wake_ ABSL_GUARDED_BY(mutex_);
  std::deque<Answer> answers_ ABSL_GUARDED_BY(mutex_);
  std::deque<Waiter> waiters_ ABSL_GUARDED_BY(mutex_);
  int64_t unsent_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // queued, being sent, or reserved
  int64_t held_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t commands_ ABSL_GUARDED_BY(mutex_) = 0;
  CommandsUnderWay under_way_ ABSL_GUARDED_BY(mutex_);
  size_t sending_ ABSL_GUARDED_BY(mutex_) = 0;  // answers that Next gave and Sent has not seen
  std::atomic<bool> closed_ = false;            // changes under the mutex
};

}  // namespace opserve::server
