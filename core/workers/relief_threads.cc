#include "core/workers/relief_threads.h"

#include <utility>

#include "core/base/thread.h"

namespace opserve {
namespace {

// How long a thread that has nothing to do is kept.
constexpr std::chrono::seconds kKept{5};

}  // namespace

ReliefThreads::ReliefThreads(Source& source, size_t max_threads)
    : source_(source), max_threads_(max_threads) {
  const MutexLock lock(mutex_);
  Add();
}

ReliefThreads::~ReliefThreads() {
  Threads all;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    all.splice(all.end(), threads_);
    all.splice(all.end(), ended_);
  }
  called_back_.NotifyAll();
  next_watcher_.NotifyAll();
  for (std::thread& thread : all) thread.join();
}

void ReliefThreads::Call() {
  {
    const MutexLock lock(mutex_);
    called_ = true;
  }
  called_back_.NotifyOne();
}

void ReliefThreads::Live(Threads::iterator self) {
  while (BecomeWatcher()) {
    absl::AnyInvocable<void()> work = Watch();
    LetAnotherWatch();
    if (work) work();
  }
  const MutexLock lock(mutex_);
  if (!stopping_) ended_.splice(ended_.end(), threads_, self);
}

bool ReliefThreads::BecomeWatcher() {
  const MutexLock lock(mutex_);
  bool in_time = true;
  ++spare_;
  while (!stopping_ && has_watcher_ && in_time) in_time = next_watcher_.WaitFor(mutex_, kKept);
  --spare_;
  if (stopping_ || has_watcher_) return false;
  has_watcher_ = true;
  return true;
}

absl::AnyInvocable<void()> ReliefThreads::Watch() {
  for (;;) {
    {
      const MutexLock lock(mutex_);
      if (stopping_) return nullptr;
      called_ = false;
    }
    const std::optional<Time> due = source_.NextDue();
    if (due.has_value() && *due <= std::chrono::steady_clock::now()) {
      absl::AnyInvocable<void()> work = source_.TakeDue();
      if (work) return work;
    } else {
      WaitUntil(due);
    }
  }
}

void ReliefThreads::WaitUntil(std::optional<Time> due) {
  const MutexLock lock(mutex_);
  while (!called_ && !stopping_) {
    if (!due.has_value()) {
      called_back_.Wait(mutex_);
    } else if (const auto left = *due - std::chrono::steady_clock::now(); left.count() <= 0) {
      return;
    } else {
      called_back_.WaitFor(mutex_, left);
    }
  }
}

void ReliefThreads::LetAnotherWatch() {
  const MutexLock lock(mutex_);
  has_watcher_ = false;
  if (stopping_) return;
  if (spare_ > 0) return next_watcher_.NotifyOne();
  if (threads_.size() >= max_threads_) return;
  try {
    Add();
  } catch (const ThreadError&) {
    // This thread will watch again when it has done its work.
  }
}

void ReliefThreads::Add() {
  // They have nothing left to do but to return.
  for (std::thread& thread : ended_) thread.join();
  ended_.clear();
  const auto self = threads_.emplace(threads_.end());
  try {
    *self = StartThread("a relief thread", [this, self] { Live(self); });
  } catch (const ThreadError&) {
    threads_.erase(self);
    throw;
  }
}

}  // namespace opserve
