// Threads that take what has waited for too long while all others are busy. Used by WorkerPool.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <thread>

#include "absl/functional/any_invocable.h"
#include "core/base/mutex.h"

namespace opserve {

// One thread is there always and watches. It makes another one the watcher before it takes
// something itself; threads that have had nothing to do for a few seconds end. Thread-safe.
class ReliefThreads {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // What they work for. Called by any of the threads, with no lock of theirs held.
  class Source {
   public:
    virtual ~Source() = default;
    // From when on something that waits is due; nullopt: nothing is, and Call will tell.
    virtual std::optional<Time> NextDue() = 0;
    // What is due now, to be called once; empty when nothing is.
    virtual absl::AnyInvocable<void()> TakeDue() = 0;
  };

  // `source` must outlive it. Throws ThreadError when there is no thread to be had; later a
  // thread that cannot be made is done without.
  ReliefThreads(Source& source, size_t max_threads);
  // Waits for what they run.
  ~ReliefThreads();
  ReliefThreads(const ReliefThreads&) = delete;
  ReliefThreads& operator=(const ReliefThreads&) = delete;

  // Something waits that may become due. The caller may hold a lock that the source wants.
  void Call();

 private:
  using Threads = std::list<std::thread>;

  void Live(Threads::iterator self);
  // False when the thread is to end.
  bool BecomeWatcher();
  // What it is to run; empty when all end.
  absl::AnyInvocable<void()> Watch();
  void WaitUntil(std::optional<Time> due);
  void LetAnotherWatch();
  void Add() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Source& source_;
  const size_t max_threads_;
  Mutex mutex_;
  CondVar called_back_;   // the watcher's
  CondVar next_watcher_;  // the others'
  bool called_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_watcher_ ABSL_GUARDED_BY(mutex_) = false;
  int spare_ ABSL_GUARDED_BY(mutex_) = 0;  // threads that wait to be the watcher
  Threads threads_ ABSL_GUARDED_BY(mutex_);
  Threads ended_ ABSL_GUARDED_BY(mutex_);  // to be joined
};

}  // namespace opserve
