// A queue of work on a device: in order, asynchronous, and concurrent with other streams.
//
// The order is kept in software, on the workers of the device. A command is a function that blocks
// until its work is done, so every device with blocking calls has streams. A stream that waits for
// another stream blocks no worker.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <variant>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/device/event.h"
#include "core/workers/worker_pool.h"

namespace opserve {

// Thread-safe. Made by Create, because waiting work keeps a reference to its stream. The workers
// must outlive the stream.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  // What happens to the commands after one that failed, until Synchronize has reported the failure.
  enum class OnFailure : uint8_t {
    kStop,      // they are not run, and fail (STREAM_FAILED) naming the command at fault
    kContinue,  // they run
  };

  struct Command {
    // For errors to name.
    uint64_t id = 0;
    // Called in the stream's turn on a worker, or on the thread of Enqueue if the command is quick
    // and the stream has nothing else to do.
    absl::AnyInvocable<absl::Status()> run;
    // Called exactly once, on any thread, with no lock held: with the status of `run`, or why the
    // command did not run. It must not block. May be empty.
    absl::AnyInvocable<void(absl::Status)> done;
    bool is_quick = false;  // takes no longer than a hand-over to a worker
  };

  // A command that ends after its turn on a worker, because it waits for a network, for example. It
  // blocks no worker while it waits.
  struct AsyncCommand {
    using Finished = absl::AnyInvocable<void(absl::Status)>;

    // For errors to name.
    uint64_t id = 0;
    // Called on a worker, in the stream's turn. `finished` must be called once, on any thread,
    // perhaps before `start` returns. The stream goes on once both have happened. If `finished` is
    // destroyed uncalled, the command fails (561103). The workers must outlive it.
    absl::AnyInvocable<void(Finished finished)> start;
    // As Command::done, perhaps on the thread of `finished`. `start` was destroyed before.
    absl::AnyInvocable<void(absl::Status)> done;
  };

  // The first failure since the last Synchronize, and the id of the command that failed.
  struct Failure {
    absl::Status status;  // OK: none
    uint64_t command = 0;
  };

  // The work counts as the client's when the workers take turns.
  static std::shared_ptr<Stream> Create(WorkerPool& workers, const Clock& clock,
                                        OnFailure on_failure, ClientId client = ClientId::kNone);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void Enqueue(Command command);
  void Enqueue(AsyncCommand command);

  // Records `event` after everything that is on the stream now.
  void Record(Event& event);

  // Later commands wait for the latest recording of `event`; 161002 if there is none. Because only
  // an earlier recording can be waited for, streams cannot wait for each other in a circle.
  absl::Status WaitFor(const Event& event);

  // Calls `done`, as Command::done, when everything that is on the stream now has ended. `done`
  // gets the first failure, and the stream forgets the failure.
  void Synchronize(absl::AnyInvocable<void(Failure)> done);

  WorkerPool& workers() const { return workers_; }

  // Whether nothing runs and nothing waits. True once the `done` of the last command was called.
  bool IsIdle() const;

  // Drops waiting and later commands: each `done` gets CANCELLED, and markers count as reached. A
  // command that runs, or was started and has not finished, continues to its end; a long command
  // checks is_abandoned now and then.
  void Abandon();
  bool is_abandoned() const { return abandoned_.load(std::memory_order_relaxed); }

 private:
  struct Gate {
    std::shared_ptr<Marker> marker;
  };
  struct Barrier {
    absl::AnyInvocable<void(Failure)> done;
  };
  // A marker to reach, a marker to wait for, …
  using Item = std::variant<Command, AsyncCommand, std::shared_ptr<Marker>, Gate, Barrier>;
  class Turn;
  class Pending;

  Stream(WorkerPool& workers, const Clock& clock, OnFailure on_failure, ClientId client)
      : workers_(workers), clock_(clock), on_failure_(on_failure), client_(client) {}

  void Push(Item item);
  // Whether it is done at once when the stream has nothing to do.
  static bool IsQuick(const Item& item);
  void StartTurn();
  void TakeTurn();
  // False when the stream has nothing to do, or waits.
  bool Step();
  bool PassGate(const std::shared_ptr<Marker>& marker);
  // OK, or why the next command is not to run.
  absl::Status CheckGoesOn() const;
  // Of the command whose turn it is; before anybody is told.
  void EndCommand(const absl::Status& status, uint64_t command);
  void Run(Command command);
  // False when the command has not finished yet.
  bool Start(AsyncCommand command);
  // After a command that finished when its turn was over.
  void GoOn();
  void Tell(Barrier barrier);
  void Drop(Item item);

  WorkerPool& workers_;
  const Clock& clock_;
  const OnFailure on_failure_;
  const ClientId client_;

  mutable Mutex mutex_;
  std::deque<Item> items_ ABSL_GUARDED_BY(mutex_);
  // A turn is due, runs, or waits: at a gate, for a command to finish.
  bool busy_ ABSL_GUARDED_BY(mutex_) = false;
  // A command runs, or what is next waits at a gate.
  bool occupied_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> abandoned_ = false;  // changes under the mutex
  Failure failure_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve
