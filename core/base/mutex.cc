#include "core/base/mutex.h"

#include <algorithm>
#include <atomic>

namespace opserve {
namespace {

using SteadyClock = std::chrono::steady_clock;

// How long a thread tries before it sleeps: what our locks guard takes a fraction of a microsecond,
// so this is time for a dozen threads in turn. A sleep and a wake-up take longer; and while some
// sleep, each unlock has to wake one.
constexpr std::chrono::microseconds kSpin{8};
// Between two tries, at most: who tries takes the lock's cache line from who holds it.
constexpr int kMostPauses = 16;

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

void LockTaken(std::mutex& mutex, SteadyClock::time_point start) {
  int pauses = 1;
  do {
    for (int i = 0; i < pauses; ++i) Pause();
    if (mutex.try_lock()) return;
    pauses = std::min(2 * pauses, kMostPauses);
  } while (SteadyClock::now() - start < kSpin);
  mutex.lock();
}

}  // namespace

void Mutex::Wait() {
  const SteadyClock::time_point start = SteadyClock::now();
  LockTaken(mutex_, start);
  const std::chrono::nanoseconds waited = SteadyClock::now() - start;
  lock_waits.fetch_add(1, std::memory_order_relaxed);
  lock_wait_ns.fetch_add(waited.count(), std::memory_order_relaxed);
}

LockWaits LockWaitsSoFar() {
  return {.count = lock_waits.load(std::memory_order_relaxed),
          .time = std::chrono::nanoseconds(lock_wait_ns.load(std::memory_order_relaxed))};
}

}  // namespace opserve
