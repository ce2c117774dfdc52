// The worker threads of a device, and the one way in which kernels use more than one of them.
//
// There is one queue of tasks and of chunks. A thread that is free takes what waits, tasks and the
// loops' chunks in turns, so calls share the threads chunk by chunk however large they are. Of the
// clients whose tasks wait, the one that was served least is next. Where all threads have been busy
// with other clients' tasks for a few milliseconds, a relief thread takes the task of a client that
// has none running: then the kernel divides the cores among more threads than there are, for as
// long as that takes, and no client waits for the end of another's long call.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/functional/function_ref.h"
#include "core/base/client_id.h"

namespace opserve {

// A fixed number of worker threads. Thread-safe.
class WorkerPool {
 public:
  // A unit of work handed to a worker; run at most once, destroyed after it ran or when the pool
  // goes.
  class Task {
   public:
    virtual ~Task() = default;
    virtual void Run() = 0;
  };

  static constexpr int kMaxThreads = 1024;
  // Relief threads at one time, one of which is there always.
  static constexpr int kMaxReliefThreads = 32;

  // 1 <= `threads` <= kMaxThreads. The calling thread of ParallelFor counts as one while it works.
  // The workers run on the cores of `numa_node`, one of NumaNodes() (thread_arena.h), or of any;
  // relief threads run on any. Throws ThreadError where the system has too few threads, or the
  // process has too many (ThreadArena::kMaxThreadsOfProcess).
  explicit WorkerPool(int threads, std::optional<int> numa_node = std::nullopt);
  // Waits for the tasks that were enqueued.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int threads() const { return threads_; }

  enum class Size : uint8_t {
    kAny,
    kTiny,  // takes no longer than a chunk: goes before the others, and runs between their chunks
  };

  // Runs `task` on a worker, soon; a client's tasks of one size start in the order in which they
  // came. Tasks of ClientId::kNone are short: there is no relief from them.
  void Enqueue(std::unique_ptr<Task> task, Size size = Size::kAny,
               ClientId client = ClientId::kNone);

  // Whether the loop goes on; once a chunk said no, no further one begins.
  enum class Loop : uint8_t { kContinue, kEnd };

  // Runs body(0) … body(chunks - 1), each once, on the caller and the workers; returns when all are
  // done. Order and placement are not defined, so a chunk must not depend on another, and what a
  // chunk is must follow from shapes alone: then the result is the same bits for any number of
  // threads. Bodies must not throw. May be called from a task. Between its chunks the caller runs
  // tiny tasks of others, so it must not hold a lock that they may want; a tiny task's own loops
  // run none, so that stacks do not grow with what waits.
  void ParallelFor(int64_t chunks, absl::FunctionRef<void(int64_t)> body);
  // The same for loops that may end early, which takes no longer than the chunks that have begun.
  void ParallelForUntil(int64_t chunks, absl::FunctionRef<Loop(int64_t)> body);

 private:
  class Discipline;
  const int threads_;
  std::unique_ptr<Discipline> discipline_;
};

// The workers that one call may use, for as long as somebody wants its result.
class Workers {
 public:
  // `stop` is asked before every chunk, by any thread; once it said true no chunk is run any more.
  // Both must outlive this.
  Workers(WorkerPool& pool, absl::FunctionRef<bool()> stop) : pool_(pool), stop_(stop) {}
  // Never stops.
  explicit Workers(WorkerPool& pool) : pool_(pool), stop_(kNever) {}
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int threads() const { return pool_.threads(); }
  const WorkerPool& pool() const { return pool_; }

  // As WorkerPool's, but ends at once when the call is stopped, as do all later loops: what they
  // should have made must not be used.
  void ParallelFor(int64_t chunks, absl::FunctionRef<void(int64_t)> body) const;

  // Asks whether somebody still wants the result: for chunks that take longer than a few
  // milliseconds, which return without one once this says true.
  bool ShouldStop() const;
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

 private:
  static constexpr bool (*kNever)() = [] { return false; };

  WorkerPool& pool_;
  const absl::FunctionRef<bool()> stop_;
  mutable std::atomic<bool> stopped_{false};
};

}  // namespace opserve
