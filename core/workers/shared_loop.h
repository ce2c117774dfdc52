// A loop whose chunks threads share.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>

#include "absl/functional/function_ref.h"
#include "core/workers/worker_pool.h"

namespace opserve {

// One WorkerPool::ParallelFor, on its caller's stack. No chunk takes a lock.
class SharedLoop {
 public:
  SharedLoop(int64_t chunks, absl::FunctionRef<WorkerPool::Loop(int64_t)> body, int64_t free_seats)
      : seats(free_seats), chunks_(chunks), body_(body) {}
  SharedLoop(const SharedLoop&) = delete;
  SharedLoop& operator=(const SharedLoop&) = delete;

  // False when there was none left.
  bool RunChunk() {
    if (ended_.load(std::memory_order_relaxed)) return false;
    const int64_t chunk = next_.fetch_add(1, std::memory_order_relaxed);
    if (chunk >= chunks_) return false;
    if (body_(chunk) == WorkerPool::Loop::kEnd) ended_.store(true, std::memory_order_relaxed);
    return true;
  }

  // Under the pool's mutex: the place among the loops that have free seats.
  void EnterLast(std::list<SharedLoop*>& loops) { loops.splice(loops.end(), place_); }
  void Leave(std::list<SharedLoop*>& loops) {
    if (place_.empty()) place_.splice(place_.end(), loops, at_);
  }

  // Threads that are at it besides its caller. Grows under the pool's mutex only, while the loop is
  // published.
  std::atomic<int> helpers{0};
  // Under the pool's mutex.
  int64_t seats;  // helpers that it can still have
  bool published = false;

 private:
  const int64_t chunks_;
  const absl::FunctionRef<WorkerPool::Loop(int64_t)> body_;
  std::atomic<int64_t> next_{0};
  std::atomic<bool> ended_{false};
  // The loop's node, here or in the pool's list: so nothing is searched for, and nothing allocated.
  std::list<SharedLoop*> place_{this};
  const std::list<SharedLoop*>::iterator at_ = place_.begin();
};

}  // namespace opserve
