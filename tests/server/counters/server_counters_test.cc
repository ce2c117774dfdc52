#include "server/counters/server_counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/support/fake_clock.h"

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
  counters.CallEnded(Method::kExecuteBatch, {.code = absl::StatusCode::kCancelled,
                                             .request_bytes = 3,
                                             .response_bytes = 4,
                                             .took = absl::Microseconds(3)});
  counters.CallEnded(Method::kExecute, {.code = static_cast<absl::StatusCode>(99)});
  counters.Failed("x", ErrorReason::kStreamFailed, absl::InternalError("y"));
  counters.BatchEnded(9, 2);
  counters.SessionOpened();
  counters.SessionOpened();
  counters.SessionClosed();
  counters.SessionRefused();
  counters.CommandsCame(1, 10);
  counters.CommandBegan();
  counters.CommandBegan();
  counters.CommandEnded();
  counters.AnswersLeft(1, 20);
  counters.CommandFailed(ErrorReason::kStreamFailed, absl::InternalError("y"));
  const ServerCounts counts = counters.Sum();
  const auto& batch = counts.methods[static_cast<size_t>(Method::kExecuteBatch)];
  EXPECT_EQ(batch.begun, 2);
  EXPECT_EQ(batch.ended[1], 1);
  EXPECT_EQ(batch.request_bytes, 3);
  EXPECT_EQ(batch.response_bytes, 4);
  EXPECT_EQ(batch.took_ns, 3000);
  EXPECT_EQ(batch.took[2], 1);  // up to 5 µs
  // A code that there is not is UNKNOWN.
  EXPECT_EQ(counts.methods[static_cast<size_t>(Method::kExecute)].ended[2], 1);
  // And of a command.
  EXPECT_EQ(counts.errors[static_cast<size_t>(ErrorReason::kStreamFailed)], 2);
  EXPECT_EQ(counts.batch_calls, 9);
  EXPECT_EQ(counts.batch_failed_calls, 2);
  EXPECT_EQ(counts.batch_sizes[4], 1);  // up to 16
  EXPECT_EQ(counts.sessions_opened, 2);
  EXPECT_EQ(counts.sessions_closed, 1);
  EXPECT_EQ(counts.sessions_refused, 1);
  EXPECT_EQ(counts.session_commands, 1);
  EXPECT_EQ(counts.session_commands_begun, 2);
  EXPECT_EQ(counts.session_commands_ended, 1);
  EXPECT_EQ(counts.session_answers, 1);
  EXPECT_EQ(counts.session_failed_commands, 1);
  EXPECT_EQ(counts.session_request_bytes, 10);
  EXPECT_EQ(counts.session_response_bytes, 20);
}

TEST(ServerCountersTest, BatchesGoByTheSizeThatTheyHaveAtMost) {
  ServerCounters counters;
  for (const size_t calls : {0, 1, 2, 3, 4, 4096, 5000}) counters.BatchEnded(calls, 0);
  const std::array<int64_t, kNumBatchSizes> sizes = counters.Sum().batch_sizes;
  EXPECT_THAT(sizes, ::testing::ElementsAre(2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2));
}

TEST(DurationBucketTest, BoundsAreWithin) {
  EXPECT_EQ(DurationBucket(absl::ZeroDuration()), 0u);
  EXPECT_EQ(DurationBucket(absl::Microseconds(1)), 0u);
  EXPECT_EQ(DurationBucket(absl::Nanoseconds(1001)), 1u);
  EXPECT_EQ(DurationBucket(absl::Milliseconds(20)), 13u);
  EXPECT_EQ(DurationBucket(absl::Seconds(50)), 23u);
  EXPECT_EQ(DurationBucket(absl::InfiniteDuration()), 24u);
  EXPECT_EQ(kDurationBoundsNs.back(), absl::ToInt64Nanoseconds(absl::Seconds(50)));
}

TEST(RecentErrorsTest, NotesSomeOfTheLatest) {
  opserve::testing::FakeClock clock;
  RecentErrors errors(clock);
  const absl::Status status = absl::InternalError(std::string(1000, 'x'));
  errors.Note("Execute", ErrorReason::kInternal, status);
  for (int i = 0; i < 7; ++i) errors.Note("Execute", ErrorReason::kInternal, status);
  clock.Advance(RecentErrors::kInterval);
  errors.Note("Session", ErrorReason::kDraining, absl::UnavailableError("draining"));
  std::vector<RecentError> latest = errors.Latest();
  ASSERT_EQ(latest.size(), 2u);
  EXPECT_EQ(latest[0].what, "Session");
  EXPECT_EQ(latest[0].message, "draining");
  EXPECT_EQ(latest[0].left_out, 7);
  EXPECT_EQ(latest[1].message.size(), RecentErrors::kMaxMessageBytes);
  for (int i = 0; i < 100; ++i) {
    clock.Advance(RecentErrors::kInterval);
    errors.Note("Execute", ErrorReason::kInternal, status);
  }
  latest = errors.Latest();
  EXPECT_EQ(latest.size(), RecentErrors::kMost);
  EXPECT_EQ(latest.back().what, "Execute");
}

constexpr size_t kMethod = 2;

TEST(ExemplarsTest, CallsAreLookedAtOnceItIsOn) {
  Exemplars exemplars(4);
  const absl::Time now = absl::FromUnixSeconds(1000);
  EXPECT_FALSE(exemplars.MayLook(kMethod, absl::Microseconds(3), now));
  exemplars.Start();
  EXPECT_TRUE(exemplars.MayLook(kMethod, absl::Microseconds(3), now));
}

TEST(ExemplarsTest, LooksAreBoundedInEachBucketByItself) {
  Exemplars exemplars(4);
  exemplars.Start();
  const absl::Time now = absl::FromUnixSeconds(1000);
  const auto looks = [&](absl::Duration took, absl::Time at) {
    int64_t count = 0;
    for (int i = 0; i < 10'000; ++i) count += exemplars.MayLook(kMethod, took, at) ? 1 : 0;
    return count;
  };
  EXPECT_EQ(looks(absl::Microseconds(3), now), Exemplars::kLooksAtOnce);
  EXPECT_EQ(looks(absl::Seconds(3), now), Exemplars::kLooksAtOnce) << "slow calls have their own";
  EXPECT_EQ(looks(absl::Microseconds(3), now + absl::Milliseconds(10)),
            Exemplars::kLooksPerSecond / 100);
  EXPECT_EQ(looks(absl::Microseconds(3), now + absl::Hours(1)), Exemplars::kLooksAtOnce);
}

TEST(ExemplarsTest, TheLatestOfEachBucketIsKept) {
  Exemplars exemplars(4);
  const auto keep = [&](TimedPart part, std::string_view of, absl::Duration value, uint8_t id) {
    Exemplar exemplar{.value = value};
    exemplar.trace.trace_id[0] = id;
    exemplars.Keep(part, of, exemplar);
  };
  keep(TimedPart::kRpc, "Execute", absl::Microseconds(3), 1);
  keep(TimedPart::kRpc, "Execute", absl::Microseconds(4), 2);
  keep(TimedPart::kRpc, "Execute", absl::Microseconds(6), 3);
  keep(TimedPart::kQueue, "L1Loss", absl::Microseconds(3), 4);
  const ExemplarMap kept = exemplars.Kept();
  EXPECT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept.at({TimedPart::kRpc, "Execute", 2}).trace.trace_id[0], 2);
  EXPECT_EQ(kept.at({TimedPart::kRpc, "Execute", 2}).value, absl::Microseconds(4));
  EXPECT_EQ(kept.at({TimedPart::kQueue, "L1Loss", 2}).trace.trace_id[0], 4);
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
        counters.CallEnded(Method::kExecute, {.request_bytes = 2, .response_bytes = 3});
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
