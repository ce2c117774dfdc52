// A queue of work on a device: in order, asynchronous, beside other streams.
//
// The order is kept here, in software, on the device's workers: a command is a function that
// returns when what it does has happened, so any device that can be driven by blocking calls has
// streams. Nothing in a stream blocks a worker while it waits for another stream.
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

// Thread-safe. Made by Create, as work that waits holds on to its stream; the workers must outlive
// it.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  // What becomes of commands behind one that failed, until Synchronize has told of the failure.
  enum class OnFailure : uint8_t {
    kStop,      // they are not run, and fail (STREAM_FAILED) naming the command at fault
    kContinue,  // they run
  };

  struct Command {
    // For errors to name.
    uint64_t id = 0;
    // In the stream's turn, on a worker; when it is quick and the stream has nothing to do, on the
    // thread that brings it.
    absl::AnyInvocable<absl::Status()> run;
    // Exactly once, on whatever thread, with no lock held: run's status, or why it was not run. It
    // must not block. May be empty.
    absl::AnyInvocable<void(absl::Status)> done;
    bool is_quick = false;  // takes no longer than to hand it to a worker does
  };

  // A command that ends later than its turn on a worker: it waits for a network, say, and holds no
  // worker meanwhile.
  struct AsyncCommand {
    using Finished = absl::AnyInvocable<void(absl::Status)>;

    // For errors to name.
    uint64_t id = 0;
    // On a worker, in the stream's turn. The stream goes on when `finished` was called, once, on
    // any thread, maybe before `start` returns, and `start` has returned. A `finished` that is
    // destroyed uncalled fails the command (561103). The workers must outlive it.
    absl::AnyInvocable<void(Finished finished)> start;
    // As Command::done; on the thread that calls `finished`, perhaps. `start` is destroyed before.
    absl::AnyInvocable<void(absl::Status)> done;
  };

  // The first failure since the last Synchronize, and whose it was.
  struct Failure {
    absl::Status status;  // OK: none
    uint64_t command = 0;
  };

  // Its turns on the workers are the client's.
  static std::shared_ptr<Stream> Create(WorkerPool& workers, const Clock& clock,
                                        OnFailure on_failure, ClientId client = ClientId::kNone);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void Enqueue(Command command);
  void Enqueue(AsyncCommand command);

  // Records `event` behind all that is on the stream.
  void Record(Event& event);

  // What comes after waits for the latest recording of `event`. 161002 when there is none. As one
  // can wait only for what was recorded before, streams cannot wait for each other in a circle.
  absl::Status WaitFor(const Event& event);

  // Calls `done` when all that is on the stream now has ended, with the failure among it, which is
  // forgotten then. Like Command::done otherwise.
  void Synchronize(absl::AnyInvocable<void(Failure)> done);

  WorkerPool& workers() const { return workers_; }

  // Nothing runs and nothing waits; who was told that the last command ended finds it so.
  bool IsIdle() const;

  // Drops what waits: its `done`s are told CANCELLED, its markers are reached. The command that
  // runs, or was started and has not finished, ends by itself; one that takes long asks
  // is_abandoned now and then. Commands that come later are dropped, too.
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
