#include "core/base/mutex.h"

#include <atomic>

namespace opserve {
namespace {

// How often a thread tries before it sleeps, which is about a microsecond: what our locks guard
// takes less, and a sleep and a wake-up more.
constexpr int kTries = 32;

std::atomic<int64_t> lock_waits{0};
std::atomic<int64_t> lock_wait_ns{0};

// Lets the other thread of the core go first.
void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

void LockTaken(std::mutex& mutex) {
  for (int i = 0; i < kTries; ++i) {
    Pause();
    if (mutex.try_lock()) return;
  }
  mutex.lock();
}

}  // namespace

void Mutex::Wait() {
  using std::chrono::steady_clock;
  const steady_clock::time_point start = steady_clock::now();
  LockTaken(mutex_);
  const std::chrono::nanoseconds waited = steady_clock::now() - start;
  lock_waits.fetch_add(1, std::memory_order_relaxed);
  lock_wait_ns.fetch_add(waited.count(), std::memory_order_relaxed);
}

LockWaits LockWaitsSoFar() {
  return {.count = lock_waits.load(std::memory_order_relaxed),
          .time = std::chrono::nanoseconds(lock_wait_ns.load(std::memory_order_relaxed))};
}

}  // namespace opserve
