#include "core/workers/worker_pool.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/mutex.h"

#include "gtest/gtest.h"

namespace opserve {
namespace {

class CountTask final : public WorkerPool::Task {
 public:
  CountTask(std::atomic<int>& runs, WorkerPool& pool) : runs_(runs), pool_(pool) {}
  void Run() override {
    pool_.ParallelFor(10, [this](int64_t) { runs_.fetch_add(1); });
  }

 private:
  std::atomic<int>& runs_;
  WorkerPool& pool_;
};

class WorkerPoolTest : public ::testing::TestWithParam<int> {};

TEST_P(WorkerPoolTest, EveryChunkRunsOnce) {
  WorkerPool pool(GetParam());
  for (const int64_t chunks : {0, 1, 2, 7, 1000}) {
    std::vector<std::atomic<int>> runs(static_cast<size_t>(chunks));
    pool.ParallelFor(chunks, [&runs](int64_t i) { runs[static_cast<size_t>(i)].fetch_add(1); });
    for (const std::atomic<int>& count : runs) EXPECT_EQ(count.load(), 1);
  }
}

TEST_P(WorkerPoolTest, AStoppedLoopEndsAtOnceHoweverManyChunksItHas) {
  WorkerPool pool(GetParam());
  std::atomic<int64_t> runs = 0;
  const auto stop = [&] { return runs >= 10; };
  const Workers workers(pool, stop);
  workers.ParallelFor(int64_t{1} << 62, [&](int64_t) { ++runs; });
  workers.ParallelFor(int64_t{1} << 62, [&](int64_t) { ++runs; });
  EXPECT_TRUE(workers.stopped());
  EXPECT_LE(runs, 10 + GetParam());
}

TEST_P(WorkerPoolTest, AChunkThatIsStoppedInItsMiddleEndsItsLoop) {
  WorkerPool pool(GetParam());
  std::atomic<int64_t> asked = 0;
  const auto stop = [&] { return ++asked > 100; };
  const Workers workers(pool, stop);
  workers.ParallelFor(int64_t{1} << 62, [&](int64_t) {
    while (!workers.ShouldStop()) {
    }
  });
  EXPECT_TRUE(workers.stopped());
}

TEST_P(WorkerPoolTest, DestructionWaitsForTasksThatUseThePoolThemselves) {
  std::atomic<int> runs = 0;
  {
    WorkerPool pool(GetParam());
    for (int i = 0; i < 100; ++i) pool.Enqueue(std::make_unique<CountTask>(runs, pool));
  }
  EXPECT_EQ(runs.load(), 1000);
}

// Blocks until opened.
class Gate {
 public:
  void Open() {
    MutexLock lock(mutex_);
    open_ = true;
    opened_.NotifyAll();
  }
  void Wait() {
    MutexLock lock(mutex_);
    while (!open_) opened_.Wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar opened_;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
};

class CallTask final : public WorkerPool::Task {
 public:
  explicit CallTask(std::function<void()> call) : call_(std::move(call)) {}
  void Run() override { call_(); }

 private:
  const std::function<void()> call_;
};

TEST(WorkerPoolOrder, ATinyTaskRunsBetweenTheChunksOfALoop) {
  WorkerPool pool(1 + 1);
  Gate tiny_ran;
  std::atomic<bool> queued = false;
  // Every thread that there is works for the loop; its later chunks wait for the tiny task.
  pool.ParallelFor(16, [&](int64_t) {
    if (!queued.exchange(true)) {
      pool.Enqueue(std::make_unique<CallTask>([&] { tiny_ran.Open(); }), WorkerPool::Size::kTiny);
    }
  });
  tiny_ran.Wait();
}

TEST(WorkerPoolOrder, TinyTasksWithLoopsDoNotNest) {
  constexpr int kTasks = 2000;
  WorkerPool pool(2);
  std::atomic<int> depth_of_any = 0;
  std::atomic<int> runs = 0;
  static thread_local int depth = 0;
  const auto task = [&] {
    ++depth;
    int deepest = depth_of_any;
    while (deepest < depth && !depth_of_any.compare_exchange_weak(deepest, depth)) {
    }
    pool.ParallelFor(4, [](int64_t) {});
    --depth;
    ++runs;
  };
  pool.ParallelFor(100, [&](int64_t chunk) {
    for (int i = 0; chunk == 0 && i < kTasks; ++i)
      pool.Enqueue(std::make_unique<CallTask>(task), WorkerPool::Size::kTiny);
  });
  while (runs < kTasks) std::this_thread::yield();
  EXPECT_LE(depth_of_any, 2);  // a task, and one between the chunks of its loop
}

TEST(WorkerPoolOrder, ATaskBehindALongLoopStartsBeforeTheLoopEnds) {
  WorkerPool pool(2);
  Gate task_ran;
  std::atomic<bool> over = false;
  std::atomic<bool> queued = false;
  // One thread is stuck in a chunk until the task ran; the others have chunks for as long as it has
  // not.
  pool.ParallelFor(1'000'000, [&](int64_t chunk) {
    if (!queued.exchange(true)) {
      pool.Enqueue(std::make_unique<CallTask>([&] { task_ran.Open(); }));
      task_ran.Wait();
      over = true;
    }
    while (chunk > 1000 && !over) std::this_thread::yield();
  });
}

TEST(WorkerPoolOrder, LoopsShareTheThreads) {
  WorkerPool pool(3);
  std::atomic<int> running = 0;
  Gate both;
  const auto loop = [&] {
    std::atomic<bool> first = true;
    pool.ParallelFor(64, [&](int64_t) {
      if (first.exchange(false) && ++running == 2) both.Open();
      both.Wait();
    });
  };
  Gate done;
  pool.Enqueue(std::make_unique<CallTask>([&] {
    loop();
    done.Open();
  }));
  loop();
  done.Wait();
}

constexpr ClientId kGreedy{1};
constexpr ClientId kOther{2};
constexpr ClientId kThird{3};

class WorkerPoolRelief : public ::testing::TestWithParam<WorkerPool::Size> {
 protected:
  ~WorkerPoolRelief() override { release_.Open(); }

  void Enqueue(ClientId client, std::function<void()> call) {
    pool_.Enqueue(std::make_unique<CallTask>(std::move(call)), GetParam(), client);
  }

  // Every thread has a task of the client's, and does not get on with it.
  void Occupy(ClientId client) {
    std::atomic<int> begun = 0;
    for (int i = 0; i < kThreads; ++i) {
      Enqueue(client, [&] {
        ++begun;
        release_.Wait();
      });
    }
    while (begun < kThreads) std::this_thread::yield();
  }

  static constexpr int kThreads = 2;
  Gate release_;
  WorkerPool pool_{kThreads};
};

TEST_P(WorkerPoolRelief, ComesForAClientWhenAnotherHasAllThreads) {
  Occupy(kGreedy);
  Gate ran;
  Enqueue(kOther, [&] { ran.Open(); });
  ran.Wait();
}

TEST_P(WorkerPoolRelief, ComesForEveryClient) {
  constexpr uint64_t kClients = 20;
  Occupy(kGreedy);
  std::atomic<uint64_t> begun = 0;
  for (uint64_t i = 0; i < kClients; ++i) {
    Enqueue(ClientId{100 + i}, [&] {
      ++begun;
      release_.Wait();
    });
  }
  while (begun < kClients) std::this_thread::yield();
}

TEST_P(WorkerPoolRelief, DoesNotComeForAClientThatHasThreads) {
  Occupy(kGreedy);
  std::atomic<int> more = 0;
  const auto add_one = [&] {
    Enqueue(kGreedy, [&] {
      ++more;
      release_.Wait();
    });
  };
  add_one();
  // On a crowded machine relief takes the client's first task, and one thread is still free.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const int taken = more;
  if (taken == 1) add_one();
  // Others come to their turn in the meantime, one that came later even twice.
  for (int i = 0; i < 2; ++i) {
    Gate ran;
    Enqueue(kOther, [&] { ran.Open(); });
    ran.Wait();
  }
  EXPECT_EQ(more, taken);
  release_.Open();
  while (more <= taken) std::this_thread::yield();
}

TEST_P(WorkerPoolRelief, ATaskOfReliefMayUseThePool) {
  Occupy(kGreedy);
  std::atomic<int> chunks = 0;
  Gate ran;
  Enqueue(kOther, [&] {
    pool_.ParallelFor(1000, [&](int64_t) { ++chunks; });
    Enqueue(kThird, [&] { ran.Open(); });
  });
  ran.Wait();
  EXPECT_EQ(chunks, 1000);
}

// oneTBB wakes no thread for a pool where others of the process hold as many that it thinks free:
// they wait in tasks of a pool that has nothing else to do.
TEST(WorkerPoolOrder, PoolsDoNotDependOnEachOthersThreads) {
  constexpr int kWaiting = 3;
  Gate release;
  Gate ran;
  std::atomic<int> begun = 0;
  WorkerPool waiting(kWaiting + 1);
  WorkerPool other(1);
  for (int i = 0; i < kWaiting; ++i) {
    waiting.Enqueue(std::make_unique<CallTask>([&] {
      ++begun;
      release.Wait();
    }));
  }
  while (begun < kWaiting) std::this_thread::yield();
  // The last thread finds nothing to do, and tells oneTBB that the pool needs none.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  other.Enqueue(std::make_unique<CallTask>([&] { ran.Open(); }));
  ran.Wait();
  release.Open();
}

// The same, where the threads are started.
TEST(WorkerPoolOrder, APoolIsMadeWhileAnothersThreadsWait) {
  constexpr int kWaiting = 3;
  Gate release;
  Gate ran;
  std::atomic<int> begun = 0;
  WorkerPool waiting(kWaiting + 1);
  for (int i = 0; i < kWaiting; ++i) {
    waiting.Enqueue(std::make_unique<CallTask>([&] {
      ++begun;
      release.Wait();
    }));
  }
  while (begun < kWaiting) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  WorkerPool other(64);  // more than any test before had, so that threads are missing
  other.Enqueue(std::make_unique<CallTask>([&] { ran.Open(); }));
  ran.Wait();
  release.Open();
}

INSTANTIATE_TEST_SUITE_P(Sizes, WorkerPoolRelief,
                         ::testing::Values(WorkerPool::Size::kAny, WorkerPool::Size::kTiny));

TEST(WorkerPoolOrder, ClientsHaveTheirTurns) {
  WorkerPool pool(1);
  Gate all_there;
  Gate all_ran;
  Mutex mutex;
  std::vector<ClientId> order;
  const auto enqueue = [&](ClientId client) {
    pool.Enqueue(std::make_unique<CallTask>([&, client] {
                   MutexLock lock(mutex);
                   order.push_back(client);
                   if (order.size() == 6) all_ran.Open();
                 }),
                 WorkerPool::Size::kAny, client);
  };
  pool.Enqueue(std::make_unique<CallTask>([&] { all_there.Wait(); }));
  for (int i = 0; i < 3; ++i) enqueue(kGreedy);
  for (int i = 0; i < 2; ++i) enqueue(kOther);
  enqueue(kThird);
  all_there.Open();
  all_ran.Wait();
  MutexLock lock(mutex);
  // Who is next then depends on how long the tasks took.
  EXPECT_EQ(std::vector<ClientId>(order.begin(), order.begin() + 3),
            (std::vector<ClientId>{kGreedy, kOther, kThird}));
}

INSTANTIATE_TEST_SUITE_P(Threads, WorkerPoolTest, ::testing::Values(1, 2, 5));

}  // namespace
}  // namespace opserve
