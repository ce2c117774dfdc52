#include "server/counters/server_counters.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace opserve::server {
namespace {

TEST(ServerCountersTest, StartAtZero) {
  const ServerCounters counters;
  const ServerCounts counts = counters.Sum();
  EXPECT_EQ(counts.methods[0].begun, 0);
  EXPECT_EQ(counts.session_response_bytes, 0);
}

TEST(ServerCountersTest, EachCountsOneThing) {
  ServerCounters counters;
  counters.CallBegan(Method::kExecuteBatch);
  counters.CallBegan(Method::kExecuteBatch);
  counters.CallEnded(Method::kExecuteBatch, absl::StatusCode::kCancelled, 3, 4);
  counters.CallEnded(Method::kExecute, static_cast<absl::StatusCode>(99), 0, 0);
  counters.Failed(ErrorReason::kStreamFailed);
  counters.BatchEnded(9, 2);
  counters.SessionOpened();
  counters.SessionOpened();
  counters.SessionClosed();
  counters.SessionRefused();
  counters.CommandsCame(1, 10);
  counters.AnswersLeft(1, 20);
  counters.CommandFailed();
  const ServerCounts counts = counters.Sum();
  const auto& batch = counts.methods[static_cast<size_t>(Method::kExecuteBatch)];
  EXPECT_EQ(batch.begun, 2);
  EXPECT_EQ(batch.ended[1], 1);
  EXPECT_EQ(batch.request_bytes, 3);
  EXPECT_EQ(batch.response_bytes, 4);
  // A code that there is not is UNKNOWN.
  EXPECT_EQ(counts.methods[static_cast<size_t>(Method::kExecute)].ended[2], 1);
  EXPECT_EQ(counts.errors[static_cast<size_t>(ErrorReason::kStreamFailed)], 1);
  EXPECT_EQ(counts.batch_calls, 9);
  EXPECT_EQ(counts.batch_failed_calls, 2);
  EXPECT_EQ(counts.sessions_opened, 2);
  EXPECT_EQ(counts.sessions_closed, 1);
  EXPECT_EQ(counts.sessions_refused, 1);
  EXPECT_EQ(counts.session_commands, 1);
  EXPECT_EQ(counts.session_answers, 1);
  EXPECT_EQ(counts.session_failed_commands, 1);
  EXPECT_EQ(counts.session_request_bytes, 10);
  EXPECT_EQ(counts.session_response_bytes, 20);
}

TEST(ServerCountersTest, NothingIsLostAmongThreads) {
  constexpr int kThreads = 20;  // more than there are shards
  constexpr int kCalls = 10000;
  ServerCounters counters;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&counters] {
      for (int j = 0; j < kCalls; ++j) {
        counters.CallBegan(Method::kExecute);
        counters.CallEnded(Method::kExecute, absl::StatusCode::kOk, 2, 3);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto counts = counters.Sum().methods[static_cast<size_t>(Method::kExecute)];
  EXPECT_EQ(counts.begun, kThreads * kCalls);
  EXPECT_EQ(counts.ended[0], kThreads * kCalls);
  EXPECT_EQ(counts.response_bytes, 3 * kThreads * kCalls);
}

}  // namespace
}  // namespace opserve::server
