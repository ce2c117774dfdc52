// What is on its way in and out of one session: answers not sent yet, uploads not used yet, and
// commands not finished yet. It counts each of them, in bytes or commands. From that the transport
// knows when to read, and the senders know when to produce more.
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
#include "absl/status/status.h"
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
  absl::Status status;  // of a command that failed: what `header.error` tells

  int64_t size_bytes() const;
};

// Thread-safe. No callback is called with a lock held.
class Flow {
 public:
  // MayRead is false while uploads or answers take more than `window_bytes`, and while the client
  // has no host memory left. Commands are counted in `counters`, which must outlive the flow.
  Flow(int64_t window_bytes, std::shared_ptr<SessionMemory> memory, ServerCounters& counters)
      : window_bytes_(window_bytes), memory_(std::move(memory)), counters_(counters) {}

  // The session's memory, to which uploads and answers are charged while they wait.
  const std::shared_ptr<SessionMemory>& memory() const { return memory_; }

  // ---- for the transport ----

  // Must be the first call. `wake` is called, on any thread, when there may be something to send or
  // room to read, or when the session may have ended.
  void Attach(std::shared_ptr<const absl::AnyInvocable<void() const>> wake);

  // The next answers to send: at least one, and more while their sum is at most `max_bytes`. Call
  // Sent, with their number and size, when the transport has taken them.
  std::vector<Answer> Next(int64_t max_bytes);
  void Sent(size_t answers, int64_t bytes);
  // Whether Next would return an answer.
  bool HasAnswer() const;
  bool MayRead() const;
  // Whether no command is under way and every answer was sent.
  bool IsIdle() const;
  // Answers that are not sent yet.
  int64_t unsent_bytes() const;
  // Checks again whether there is room, as other sessions may have made some. Call it now and then.
  void LookAgain();
  // Ends sending: drops all answers, calls `ready(false)` of each Reserve, and releases `wake`.
  void Close();
  bool is_closed() const { return closed_.load(std::memory_order_relaxed); }

  // ---- for commands ----

  void Send(Answer answer);
  // SendReserved for a caller that holds a lock. Call Wake after the lock was released.
  void Post(Answer answer, int64_t reserved);
  void Wake();

  // Calls `ready(true)`, in this call or later, when `bytes` more may be sent. From then on they
  // count as unsent, until SendReserved or Unreserve. Requests are granted in their order.
  // `ready(false)`: the session is over.
  void Reserve(int64_t bytes, absl::AnyInvocable<void(bool)> ready);
  // Sends an answer for which `reserved` bytes were granted, and corrects the count to its size.
  void SendReserved(Answer answer, int64_t reserved);
  void Unreserve(int64_t bytes);

  // Counts bytes that the session keeps for waiting commands, mostly their uploads.
  void Hold(int64_t bytes);
  void Release(int64_t bytes);

  // Counts one more command. False, and nothing counted, when `max` commands are under way.
  bool BeginCommand(int64_t max);
  // Until the command ends, Cancel(id) sets `cancelled`. Each id is greater than those before.
  void MakeCancellable(uint64_t id, std::atomic<bool>& cancelled);
  void Cancel(uint64_t id);
  // Sends the command's last answer and releases what was held for it. `cancellable` is the id that
  // MakeCancellable was called with, or 0.
  void EndCommand(std::optional<Answer> answer, int64_t released_bytes, uint64_t cancellable);

 private:
  struct Waiter {
    int64_t bytes;
    absl::AnyInvocable<void(bool)> ready;
  };

  bool HasRoom(int64_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The waiters that have room now. Call their `ready` without the lock.
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
