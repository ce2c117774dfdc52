#include "server/tracing/slow_calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "server/tracing/chrome_trace.h"

namespace opserve::server {
namespace {

const absl::Time kClockStart = absl::FromUnixSeconds(5000);
const absl::Time kWallStart = absl::FromUnixSeconds(1'700'000'000);

// A call that began `start` after the others' origin and took `took`.
CallRecord Call(absl::Duration start, absl::Duration took) {
  CallRecord call;
  call.method = "Execute";
  call.op = "L1Loss";
  call.phases.begun = kClockStart + start;
  call.phases.handed_over = call.phases.begun + took / 10;
  call.phases.queued = took / 10 * 2;
  call.phases.executed = took / 10 * 4;
  call.phases.answered = call.phases.begun + took / 10 * 8;
  call.phases.ended = call.phases.begun + took;
  call.ended_at = kWallStart + start + took;
  return call;
}

TEST(SlowCallsTest, KeepsTheNewestOfThoseThatTookLong) {
  SlowCalls slow(absl::Milliseconds(10));
  for (size_t i = 0; i < 3 * SlowCalls::kMostKept / 2; ++i) {
    slow.Add(Call(absl::Seconds(i), absl::Milliseconds(10)));
    slow.Add(Call(absl::Seconds(i), absl::Milliseconds(9)));
  }
  const std::vector<CallRecord> kept = slow.Kept();
  ASSERT_EQ(kept.size(), SlowCalls::kMostKept);
  for (size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(kept[i].phases.begun, kClockStart + absl::Seconds(SlowCalls::kMostKept / 2 + i));
    EXPECT_EQ(kept[i].phases.ended - kept[i].phases.begun, absl::Milliseconds(10));
  }
}

TEST(SlowCallsTest, WithoutATimeNoneIsKept) {
  SlowCalls slow{absl::ZeroDuration()};
  slow.Add(Call(absl::ZeroDuration(), absl::Hours(1)));
  EXPECT_FALSE(slow.keeps_any());
  EXPECT_TRUE(slow.Kept().empty());
}

// Events of phase X, by row.
std::map<int, std::vector<nlohmann::json>> EventsOf(const nlohmann::json& trace) {
  std::map<int, std::vector<nlohmann::json>> rows;
  for (const nlohmann::json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") rows[event["tid"]].push_back(event);
  }
  return rows;
}

TEST(ChromeTraceTest, ACallIsAnEventWithItsPhasesBelow) {
  const std::vector<CallRecord> calls = {Call(absl::ZeroDuration(), absl::Microseconds(100))};
  const auto trace = nlohmann::json::parse(ChromeTrace(calls));
  const auto rows = EventsOf(trace);
  ASSERT_EQ(rows.size(), 1u);
  const std::vector<nlohmann::json>& events = rows.begin()->second;
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(events[0]["name"], "Execute L1Loss");
  EXPECT_EQ(events[0]["args"]["code"], "OK");
  const double origin = events[0]["ts"];
  EXPECT_DOUBLE_EQ(origin, 1.7e15);
  EXPECT_DOUBLE_EQ(events[0]["dur"], 100);
  const std::vector<std::string> names = {"parse", "queue", "execute", "answer"};
  const std::vector<double> starts = {0, 10, 30, 70};
  const std::vector<double> lengths = {10, 20, 40, 30};
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(events[i + 1]["name"], names[i]);
    EXPECT_NEAR(events[i + 1]["ts"].get<double>() - origin, starts[i], 0.5) << names[i];
    EXPECT_NEAR(events[i + 1]["dur"].get<double>(), lengths[i], 0.5) << names[i];
  }
}

TEST(ChromeTraceTest, CallsThatOverlapAreInRowsOfTheirOwn) {
  const absl::Duration second = absl::Seconds(1);
  const std::vector<CallRecord> calls = {Call(2 * second, second), Call(second / 2, second),
                                         Call(0 * second, second), Call(5 * second / 2, second)};
  const auto rows = EventsOf(nlohmann::json::parse(ChromeTrace(calls)));
  ASSERT_EQ(rows.size(), 2u);
  for (const auto& [row, events] : rows) {
    double free = 0;
    for (const nlohmann::json& event : events) {
      if (event["name"] != "Execute L1Loss") continue;
      EXPECT_GE(event["ts"].get<double>(), free) << row;
      free = event["ts"].get<double>() + event["dur"].get<double>();
    }
  }
}

TEST(ChromeTraceTest, HostileNamesAreText) {
  CallRecord call = Call(absl::ZeroDuration(), absl::Seconds(1));
  call.op = "x\"}]\n\xff\x1b";
  const std::string text = ChromeTrace({&call, 1});
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; }));
  const auto rows = EventsOf(nlohmann::json::parse(text));
  EXPECT_EQ(rows.begin()->second[0]["name"], "Execute x\"}]\n\xef\xbf\xbd\x1b");
}

TEST(ChromeTraceTest, ACallThatFailedEarlyHasNoExecution) {
  CallRecord call = Call(absl::ZeroDuration(), absl::Microseconds(100));
  call.phases.handed_over = absl::InfinitePast();
  const auto rows = EventsOf(nlohmann::json::parse(ChromeTrace({&call, 1})));
  ASSERT_EQ(rows.begin()->second.size(), 3u);
  EXPECT_EQ(rows.begin()->second[1]["name"], "parse");
  EXPECT_NEAR(rows.begin()->second[1]["dur"].get<double>(), 80, 0.5);
  EXPECT_EQ(rows.begin()->second[2]["name"], "answer");
}

}  // namespace
}  // namespace opserve::server
