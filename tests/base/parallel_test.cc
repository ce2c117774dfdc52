#include "core/base/parallel.h"

#include <atomic>
#include <memory>
#include <vector>

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

TEST_P(WorkerPoolTest, DestructionWaitsForTasksThatUseThePoolThemselves) {
  std::atomic<int> runs = 0;
  {
    WorkerPool pool(GetParam());
    for (int i = 0; i < 100; ++i) pool.Enqueue(std::make_unique<CountTask>(runs, pool));
  }
  EXPECT_EQ(runs.load(), 1000);
}

INSTANTIATE_TEST_SUITE_P(Threads, WorkerPoolTest, ::testing::Values(1, 2, 5));

}  // namespace
}  // namespace opserve
