#include "client/loadtest/figures/recorder.h"

#include <gtest/gtest.h>

namespace opserve::loadtest {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1000);

absl::Time At(double seconds) { return kStart + absl::Seconds(seconds); }

Recorder::Message MessageOf(double due, double answered) {
  return {.work = 0, .due = At(due), .sent = At(due), .answered = At(answered)};
}

// As a run that begins at 0 and has a window a second: one call in each, `calls[i]` in the ith.
void Fill(Recorder& recorder, const std::vector<int>& calls) {
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto second = static_cast<double>(i);
    for (int n = 0; n < calls[i]; ++n) recorder.Answered(MessageOf(second, second + 0.5), {});
    recorder.CloseWindow(At(second + 1));
  }
}

TEST(RecorderTest, WhatIsWarmingUpCountsInTotalsOnly) {
  Recorder recorder(1);
  recorder.Answered(MessageOf(-1, -0.5), {});
  recorder.Answered(MessageOf(-1, -0.5), {.status = absl::InternalError("bad")});
  recorder.Begin(kStart, Keep::kAll);
  Fill(recorder, {10});
  recorder.End(At(1));
  const Tally& all = recorder.Merged();
  EXPECT_EQ(all.served_calls, 10);
  EXPECT_EQ(all.latency.max(), absl::Seconds(0.5));
  EXPECT_EQ(recorder.totals().messages, 12);
  EXPECT_EQ(recorder.totals().failed_calls, 1);
  EXPECT_EQ(recorder.early_failures().List().size(), 1U);
  EXPECT_TRUE(recorder.failures().List().empty());
}

// More windows than are kept by themselves.
TEST(RecorderTest, AllWindowsAddUp) {
  Recorder recorder(1);
  recorder.Begin(kStart, Keep::kAll);
  Fill(recorder, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  recorder.Answered(MessageOf(9, 9.25), {});
  recorder.End(At(9.5));
  EXPECT_EQ(recorder.Merged().served_calls, 46);
  EXPECT_EQ(recorder.measured(), absl::Seconds(9.5));
  EXPECT_EQ(recorder.work(0).served_calls, 46);
}

TEST(RecorderTest, TheLastThreeAreKeptOnly) {
  Recorder recorder(1);
  recorder.Begin(kStart, Keep::kLastThree);
  Fill(recorder, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  recorder.Answered(MessageOf(9, 9.25), {});
  recorder.End(At(9.5));
  EXPECT_EQ(recorder.Merged().served_calls, 7 + 8 + 9);
  EXPECT_EQ(recorder.measured(), absl::Seconds(3));
}

TEST(RecorderTest, LatenciesCountFromWhenCallsWereDue) {
  Recorder recorder(1);
  recorder.Begin(kStart, Keep::kAll);
  recorder.Answered({.work = 0, .due = At(0), .sent = At(2), .answered = At(2.5)}, {});
  recorder.End(At(3));
  EXPECT_EQ(recorder.Merged().latency.max(), absl::Seconds(2.5));
}

TEST(RecorderTest, WhatEndsLateIsInNoRate) {
  Recorder recorder(1);
  recorder.Begin(kStart, Keep::kAll);
  recorder.Answered(MessageOf(0, 0.5), {.request_bytes = 10, .answer_bytes = 20});
  recorder.End(At(1));
  recorder.Answered(MessageOf(0.5, 4), {.request_bytes = 10, .answer_bytes = 20});
  const Tally& all = recorder.Merged();
  EXPECT_EQ(all.request_bytes, 10);
  EXPECT_EQ(all.answer_bytes, 20);
  EXPECT_EQ(all.served_calls, 2);
  EXPECT_EQ(all.in_time_calls, 1);
  EXPECT_EQ(all.latency.max(), absl::Seconds(3.5));
}

// Slow calls, of which few fit: each counts by the part of its time that was measured.
TEST(RecorderTest, RatesCountPartsOfCalls) {
  Recorder recorder(1);
  recorder.Begin(kStart, Keep::kAll);
  recorder.Answered(MessageOf(-1, 1), {});
  recorder.Answered(MessageOf(1, 3), {.calls = 2});
  recorder.End(At(4));
  recorder.Answered(MessageOf(3, 5), {});
  recorder.Merged();
  EXPECT_DOUBLE_EQ(recorder.ServedPerSecond(), (0.5 + 2 + 0.5) / 4);
  EXPECT_DOUBLE_EQ(recorder.InTimePerSecond(), 3.0 / 4);
}

TEST(RecorderTest, CallsOfOneMessageFailByThemselves) {
  Recorder recorder(1);
  recorder.Begin(kStart, Keep::kAll);
  recorder.Answered(MessageOf(0, 1), {.calls = 10,
                                      .failed_calls = 3,
                                      .first_error = absl::NotFoundError("no"),
                                      .executions = 7,
                                      .queued = absl::Milliseconds(7),
                                      .executed = absl::Milliseconds(14)});
  recorder.Answered(MessageOf(0, 1), {.status = absl::InternalError("bad"), .calls = 10});
  recorder.Unsent(0, 10);
  recorder.End(At(1));
  const Tally& all = recorder.Merged();
  EXPECT_EQ(all.served_calls, 7);
  EXPECT_EQ(all.failed_calls, 13);
  EXPECT_EQ(all.unsent_calls, 10);
  EXPECT_EQ(all.queued.mean(), absl::Milliseconds(1));
  EXPECT_EQ(all.executed.mean(), absl::Milliseconds(2));
  EXPECT_EQ(all.latency.count(), 1);
  EXPECT_EQ(all.refusal.count(), 1);
  EXPECT_EQ(recorder.failures().List().front().calls, 10);
}

Window WindowOf(double rate, absl::Duration p50) {
  return {.length = absl::Seconds(1), .calls_per_second = rate, .p50 = p50};
}

TEST(StabilityTest, ThreeWindowsNearTheirMeanAreStable) {
  const absl::Duration us = absl::Microseconds(100);
  EXPECT_FALSE(IsStable({}, 0.1));
  EXPECT_FALSE(IsStable({WindowOf(100, us), WindowOf(100, us)}, 0.1));
  EXPECT_TRUE(IsStable({WindowOf(95, us), WindowOf(100, us), WindowOf(105, us)}, 0.1));
  EXPECT_FALSE(IsStable({WindowOf(80, us), WindowOf(100, us), WindowOf(100, us)}, 0.1));
  EXPECT_FALSE(IsStable({WindowOf(100, us * 2), WindowOf(100, us), WindowOf(100, us)}, 0.1))
      << "latencies count, too";
  EXPECT_TRUE(
      IsStable({WindowOf(1, us), WindowOf(100, us), WindowOf(100, us), WindowOf(100, us)}, 0.1))
      << "the last three";
  EXPECT_FALSE(IsStable({WindowOf(0, us * 0), WindowOf(0, us * 0), WindowOf(0, us * 0)}, 0.1))
      << "nothing is not stable";
}

}  // namespace
}  // namespace opserve::loadtest
