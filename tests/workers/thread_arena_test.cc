#include "core/workers/thread_arena.h"

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/thread.h"

#include "gtest/gtest.h"

namespace opserve {
namespace {

TEST(ThreadArenaTest, EveryCallIsOneVisit) {
  std::atomic<int> visits = 0;
  ThreadArena arena(3, [&] { ++visits; });
  for (int i = 0; i < 1000; ++i) arena.CallForVisit();
  arena.WaitForVisits();
  EXPECT_EQ(visits, 1000);
}

TEST(ThreadArenaTest, VisitsAreNeverTheCallers) {
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> by_caller = 0;
  ThreadArena arena(2, [&] { by_caller += std::this_thread::get_id() == caller ? 1 : 0; });
  for (int i = 0; i < 100; ++i) arena.CallForVisit();
  arena.WaitForVisits();
  EXPECT_EQ(by_caller, 0);
}

// Every visit waits for all the others: so they are as many threads, at the same time.
TEST(ThreadArenaTest, ManyArenasHaveAllTheirThreadsAtATime) {
  constexpr int kArenas = 5;
  constexpr int kThreads = 7;
  std::atomic<int> there = 0;
  std::vector<std::unique_ptr<ThreadArena>> arenas;
  for (int i = 0; i < kArenas; ++i) {
    arenas.push_back(std::make_unique<ThreadArena>(kThreads, [&] {
      ++there;
      while (there < kArenas * kThreads) std::this_thread::yield();
    }));
  }
  for (const auto& arena : arenas)
    for (int i = 0; i < kThreads; ++i) arena->CallForVisit();
  arenas.clear();
  EXPECT_EQ(there, kArenas * kThreads);
}

TEST(ThreadArenaTest, HasNoMoreThreadsThanItWasToldOf) {
  constexpr int kThreads = 2;
  std::atomic<int> at_it = 0;
  std::atomic<int> most = 0;
  ThreadArena arena(kThreads, [&] {
    const int now = ++at_it;
    int seen = most;
    while (seen < now && !most.compare_exchange_weak(seen, now)) {
    }
    for (int i = 0; i < 10; ++i) std::this_thread::yield();
    --at_it;
  });
  for (int i = 0; i < 1000; ++i) arena.CallForVisit();
  arena.WaitForVisits();
  EXPECT_LE(most, kThreads);
}

TEST(ThreadArenaTest, AVisitMayCallForAnother) {
  std::atomic<int> left = 100;
  std::optional<ThreadArena> arena;
  arena.emplace(1, [&] {
    if (--left > 0) arena->CallForVisit();
  });
  arena->CallForVisit();
  arena->WaitForVisits();
  EXPECT_EQ(left, 0);
}

TEST(ThreadArenaTest, AProcessHasSoManyThreadsAndNoMore) {
  EXPECT_THROW(ThreadArena(ThreadArena::kMaxThreadsOfProcess + 1, [] {}), ThreadError);
}

}  // namespace
}  // namespace opserve
