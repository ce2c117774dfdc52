// What it costs to have a task or a loop's chunks run by a pool of two threads, and of more where
// there are cores for them.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/usable_cores.h"
#include "core/workers/worker_pool.h"

namespace opserve {
namespace {

constexpr int kThreads = 2;

// Two threads, four, and so on, with a thread that looks for work and with none that is awake.
void ByThreads(benchmark::internal::Benchmark* bench) {
  for (int threads = kThreads; threads <= std::max(kThreads, UsableCores()); threads *= 2) {
    bench->Args({0, threads});
    bench->Args({1000, threads});
  }
}

void Work20us() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
  while (std::chrono::steady_clock::now() < end) {
  }
}

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

// A loop of 20 us of work for each thread in so many chunks: a chunk each takes no less than 20 us;
// 1000 us after the one before, or at once.
void OneLoop(benchmark::State& state, int chunks_per_thread) {
  const std::chrono::microseconds idle(state.range(0));
  const auto threads = static_cast<int>(state.range(1));
  WorkerPool pool(threads);
  for (auto _ : state) {
    if (idle.count() > 0) std::this_thread::sleep_for(idle);
    const auto start = std::chrono::steady_clock::now();
    pool.ParallelFor(int64_t{threads} * chunks_per_thread, [](int64_t) { Work20us(); });
    state.SetIterationTime(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
}
BENCHMARK_CAPTURE(OneLoop, one_chunk_a_thread, 1)
    ->ArgNames({"idle_us", "threads"})
    ->Apply(ByThreads)
    ->UseManualTime()
    ->MinTime(0.2);
BENCHMARK_CAPTURE(OneLoop, eight_chunks_a_thread, 8)
    ->ArgNames({"idle_us", "threads"})
    ->Apply(ByThreads)
    ->UseManualTime()
    ->MinTime(0.2);

// So many callers at once, with a pool for each number of threads: what sharing costs.
WorkerPool& PoolOf(int64_t threads) {
  static std::map<int64_t, WorkerPool> pools;
  static Mutex mutex;
  const MutexLock lock(mutex);
  return pools.try_emplace(threads, static_cast<int>(threads)).first->second;
}

void ByCallers(benchmark::internal::Benchmark* bench) {
  bench->ArgName("threads")->Arg(kThreads)->UseRealTime();
  if (UsableCores() > kThreads) bench->Arg(UsableCores());
  for (const int callers : {1, 4, UsableCores()}) bench->Threads(callers);
}

// Loops of 64 empty chunks.
void Loops(benchmark::State& state) {
  WorkerPool& pool = PoolOf(state.range(0));
  for (auto _ : state) pool.ParallelFor(64, [](int64_t) {});
}
BENCHMARK(Loops)->Apply(ByCallers);

// Tasks of 20 us, 32 in flight for each of so many producers: a task's time beyond its share of
// the cores is the queue's.
void Tasks(benchmark::State& state) {
  WorkerPool& pool = PoolOf(state.range(0));
  std::atomic<int> in_flight = 0;
  const ClientId client{static_cast<uint64_t>(state.thread_index() + 1)};
  for (auto _ : state) {
    while (in_flight >= 32) std::this_thread::yield();
    ++in_flight;
    Enqueue(
        pool,
        [&] {
          Work20us();
          --in_flight;
        },
        client);
  }
  while (in_flight > 0) std::this_thread::yield();
}
BENCHMARK(Tasks)->Apply(ByCallers);

}  // namespace
}  // namespace opserve
