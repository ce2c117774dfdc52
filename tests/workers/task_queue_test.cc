#include "core/workers/task_queue.h"

#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "tests/base/clients.h"

namespace opserve {
namespace {

using std::chrono::milliseconds;
using Queue = TaskQueue<std::string>;

// A queue with a clock that only Work moves, and one thread.
class TaskQueueTest : public ::testing::Test {
 protected:
  void Push(ClientId client, std::string task) { queue_.Push(client, std::move(task), now_); }

  // Runs the next task, which takes as long as `time` says of its name; the name.
  template <typename TimeOf>
  std::string RunFor(TimeOf time) {
    std::optional<Queue::Taken> taken = queue_.Pop(now_);
    if (!taken.has_value()) return "";
    now_ += time(taken->task);
    queue_.End(taken->client, taken->start, now_);
    return taken->task;
  }
  std::string Run(milliseconds time) {
    return RunFor([&](const std::string&) { return time; });
  }

  Queue queue_;
  Queue::Time now_;
};

TEST_F(TaskQueueTest, RunsAClientsTasksInOrder) {
  for (const char* task : {"a", "b", "c"}) Push(kFirst, task);
  EXPECT_EQ(Run(milliseconds(5)), "a");
  EXPECT_EQ(Run(milliseconds(1)), "b");
  EXPECT_EQ(Run(milliseconds(9)), "c");
  EXPECT_EQ(Run(milliseconds(1)), "");
}

TEST_F(TaskQueueTest, ClientsWithLikeTasksTakeTurns) {
  for (const char* task : {"a1", "a2"}) Push(kFirst, task);
  for (const char* task : {"b1", "b2"}) Push(kSecond, task);
  for (const char* task : {"c1", "c2"}) Push(kThird, task);
  for (const char* task : {"a1", "b1", "c1", "a2", "b2", "c2"})
    EXPECT_EQ(Run(milliseconds(1)), task);
}

TEST_F(TaskQueueTest, ClientsShareTheTimeNotTheTurns) {
  for (int i = 0; i < 100; ++i) {
    Push(kFirst, "long");
    Push(kSecond, "short");
  }
  int short_ones = 0;
  const auto time = [](const std::string& task) { return milliseconds(task == "long" ? 10 : 1); };
  for (int i = 0; i < 44; ++i) short_ones += RunFor(time) == "short" ? 1 : 0;
  EXPECT_EQ(short_ones, 40);
}

// Who asks for little does not wait for a turn of each of those who want all that there is.
TEST_F(TaskQueueTest, WhoWasServedLeastIsNext) {
  for (uint64_t client = 10; client < 30; ++client) {
    for (int i = 0; i < 100; ++i) Push(ClientId{client}, "long");
  }
  Push(kFirst, "medium");
  int longer = 0;
  const auto time = [&](const std::string& task) {
    return milliseconds(task == "long" ? 200 + ++longer % 7 : 20);
  };
  int before = 0;
  while (RunFor(time) != "medium") ++before;
  EXPECT_LE(before, 20);  // it came last, and all have had nothing
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 5; ++i) EXPECT_EQ(RunFor(time), "long");
    Push(kFirst, "medium");
    for (before = 0; RunFor(time) != "medium";) ++before;
    EXPECT_LE(before, 3) << round;
  }
}

TEST_F(TaskQueueTest, WhoComesAnewIsNotAheadOfThoseWhoWait) {
  Push(kFirst, "first");
  EXPECT_EQ(Run(milliseconds(1000)), "first");
  for (int i = 0; i < 10; ++i) Push(kSecond, "second");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Run(milliseconds(10)), "second");
  // It has not saved up what others took while it was away.
  for (int i = 0; i < 10; ++i) Push(kThird, "third");
  EXPECT_EQ(Run(milliseconds(20)), "third");
  EXPECT_EQ(Run(milliseconds(10)), "second");
}

TEST_F(TaskQueueTest, AMinuteIsNotPaidForWithAMinute) {
  for (int i = 0; i < 2; ++i) Push(kFirst, "minute");
  for (int i = 0; i < 100; ++i) Push(kSecond, "second");
  EXPECT_EQ(Run(milliseconds(60'000)), "minute");
  int before = 0;
  while (Run(milliseconds(100)) != "minute") ++before;
  EXPECT_GE(before, 9);
  EXPECT_LE(before, 16);
}

// Leaving the queue empty for a moment does not make one new.
TEST_F(TaskQueueTest, WhoComesBackIsKnown) {
  for (int i = 0; i < 100; ++i) Push(kSecond, "other");
  Push(kFirst, "long");
  EXPECT_EQ(Run(milliseconds(1)), "other");
  EXPECT_EQ(Run(milliseconds(50)), "long");
  Push(kFirst, "long");
  for (int i = 0; i < 49; ++i) EXPECT_EQ(Run(milliseconds(1)), "other") << i;
  Push(kThird, "new");
  EXPECT_EQ(Run(milliseconds(1)), "new");
  int before = 0;
  while (Run(milliseconds(1)) != "long") ++before;
  EXPECT_LE(before, 30);  // as if it took as long as before
}

TEST_F(TaskQueueTest, ReliefTakesWhoHasNothingRunning) {
  Push(kFirst, "a1");
  Push(kFirst, "a2");
  const std::optional<Queue::Taken> running = queue_.Pop(now_);
  ASSERT_TRUE(running.has_value());
  EXPECT_FALSE(queue_.has_idle_clients());
  now_ += milliseconds(10);
  Push(kSecond, "b");
  ASSERT_TRUE(queue_.has_idle_clients());
  EXPECT_EQ(queue_.LongestIdleSince(), now_);
  EXPECT_FALSE(queue_.PopIdle(now_ - milliseconds(5), now_).has_value());
  const Queue::Time came = now_;
  now_ += milliseconds(5);
  const std::optional<Queue::Taken> relieved = queue_.PopIdle(came, now_);
  ASSERT_TRUE(relieved.has_value());
  EXPECT_EQ(relieved->task, "b");
  EXPECT_FALSE(queue_.has_idle_clients());
  queue_.End(running->client, running->start, now_);
  EXPECT_EQ(queue_.LongestIdleSince(), now_);
  queue_.End(relieved->client, relieved->start, now_);
  EXPECT_EQ(Run(milliseconds(1)), "a2");
}

}  // namespace
}  // namespace opserve
