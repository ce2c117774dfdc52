// How much waits for a thread, for threads that look without the pool's mutex. Used by WorkerPool
// only.
#pragma once

#include <atomic>
#include <cstdint>

namespace opserve {

// Counts of tasks that wait, and of seats at loops. They change under the pool's mutex only, and
// any thread may read them.
class WaitingWork {
 public:
  void AddTasks(int64_t count) {
    Add(tasks_, count);
    unclaimed_.store(all(), std::memory_order_release);
  }
  // Of the tasks, those that are tiny.
  void AddTinyTasks(int64_t count) { Add(tiny_tasks_, count); }
  void AddSeats(int64_t count) {
    Add(seats_, count);
    unclaimed_.store(all(), std::memory_order_release);
  }

  int64_t tasks() const { return tasks_.load(std::memory_order_acquire); }
  int64_t tiny_tasks() const { return tiny_tasks_.load(std::memory_order_acquire); }
  int64_t all() const {
    return tasks_.load(std::memory_order_relaxed) + seats_.load(std::memory_order_relaxed);
  }

  // Of the threads that look, as many succeed as something waits: they take the mutex, and the
  // others leave it alone. Who succeeds may find that another thread has taken the work.
  bool Claim() {
    int64_t unclaimed = unclaimed_.load(std::memory_order_acquire);
    while (unclaimed > 0) {
      if (unclaimed_.compare_exchange_weak(unclaimed, unclaimed - 1, std::memory_order_acquire))
        return true;
    }
    return false;
  }

 private:
  static void Add(std::atomic<int64_t>& counter, int64_t count) {
    counter.store(counter.load(std::memory_order_relaxed) + count, std::memory_order_release);
  }

  std::atomic<int64_t> tasks_{0};
  std::atomic<int64_t> tiny_tasks_{0};
  std::atomic<int64_t> seats_{0};
  std::atomic<int64_t> unclaimed_{0};  // of both
};

}  // namespace opserve
