// What it costs to have a task or a loop's chunks run by a pool of two threads.
#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "core/workers/worker_pool.h"

namespace opserve {
namespace {

constexpr int kThreads = 2;

class CallTask final : public WorkerPool::Task {
 public:
  explicit CallTask(std::function<void()> call) : call_(std::move(call)) {}
  void Run() override { call_(); }

 private:
  const std::function<void()> call_;
};

void Enqueue(WorkerPool& pool, std::function<void()> call, ClientId client = ClientId{1}) {
  pool.Enqueue(std::make_unique<CallTask>(std::move(call)), WorkerPool::Size::kAny, client);
}

// From Enqueue to the task's first instruction; `idle_us` after the one before: 0 finds a thread
// that looks for work, 1000 none that is awake. The caller waits without giving up its core.
void HandOver(benchmark::State& state) {
  WorkerPool pool(kThreads);
  const std::chrono::microseconds idle(state.range(0));
  for (auto _ : state) {
    if (idle.count() > 0) std::this_thread::sleep_for(idle);
    std::atomic<bool> over = false;
    std::atomic<std::chrono::steady_clock::time_point> begun;
    const auto start = std::chrono::steady_clock::now();
    Enqueue(pool, [&] {
      begun = std::chrono::steady_clock::now();
      over = true;
    });
    while (!over) {
    }
    state.SetIterationTime(std::chrono::duration<double>(begun.load() - start).count());
  }
}
BENCHMARK(HandOver)->ArgName("idle_us")->Arg(0)->Arg(1000)->UseManualTime()->MinTime(0.2);

// A loop of two chunks of 20 us of work each; 1000 us after the one before, or at once.
void TwoChunks(benchmark::State& state) {
  WorkerPool pool(kThreads);
  const std::chrono::microseconds idle(state.range(0));
  for (auto _ : state) {
    if (idle.count() > 0) std::this_thread::sleep_for(idle);
    const auto start = std::chrono::steady_clock::now();
    pool.ParallelFor(2, [&](int64_t) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
      while (std::chrono::steady_clock::now() < end) {
      }
    });
    state.SetIterationTime(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
}
BENCHMARK(TwoChunks)->ArgName("idle_us")->Arg(0)->Arg(1000)->UseManualTime()->MinTime(0.2);

// Loops of 64 empty chunks, by so many callers at once: what sharing costs.
void Loops(benchmark::State& state) {
  static WorkerPool& pool = *new WorkerPool(kThreads);
  for (auto _ : state) pool.ParallelFor(64, [](int64_t) {});
}
BENCHMARK(Loops)->Threads(1)->Threads(2)->Threads(4)->UseRealTime();

// Tasks of 20 us, 32 in flight for each of so many producers: a task's time beyond its share of
// two cores is the queue's.
void Tasks(benchmark::State& state) {
  static WorkerPool& pool = *new WorkerPool(kThreads);
  std::atomic<int> in_flight = 0;
  const ClientId client{static_cast<uint64_t>(state.thread_index() + 1)};
  for (auto _ : state) {
    while (in_flight >= 32) std::this_thread::yield();
    ++in_flight;
    Enqueue(
        pool,
        [&] {
          const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
          while (std::chrono::steady_clock::now() < end) {
          }
          --in_flight;
        },
        client);
  }
  while (in_flight > 0) std::this_thread::yield();
}
BENCHMARK(Tasks)->Threads(1)->Threads(4)->UseRealTime();

}  // namespace
}  // namespace opserve
