#include "client/cli/output/statistics_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace opserve::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

client::Statistics Counted(int64_t calls, absl::Duration uptime) {
  client::Statistics statistics{.uptime = uptime};
  statistics.methods = {{.method = "Execute",
                         .ended = {{"OK", calls}, {"NOT_FOUND", 10}},
                         .in_flight = 3,
                         .request_bytes = calls * 2048}};
  statistics.errors = {{"OPERATOR_NOT_FOUND", 10}};
  statistics.batch_calls = 5;
  statistics.engine.queued_calls = calls;
  statistics.operators = {
      {.op = "Hardshrink", .calls = calls, .queue_wait = calls * absl::Milliseconds(2)}};
  // A long batch waited besides.
  statistics.engine.queue_wait = statistics.operators[0].queue_wait + absl::Seconds(1);
  statistics.devices = {{.device = "cpu:0", .memory_limit_bytes = int64_t{1} << 30}};
  return statistics;
}

TEST(StatisticsOutputTest, ShowsEverythingSinceTheStart) {
  const std::string text = StatisticsText(Counted(1000, absl::Minutes(90)), ShownMethods::kCalled);
  EXPECT_THAT(text, HasSubstr("uptime             1h30m\n"));
  EXPECT_THAT(text, ContainsRegex("Execute +1000 +10 +3 +2.0 MiB +0 B\n"));
  EXPECT_THAT(text, ContainsRegex("\\(calls in batches\\) +5 +0\n"));
  EXPECT_THAT(text, HasSubstr("mean wait 2ms, mean execution 0"));
  EXPECT_THAT(text, HasSubstr("error              10 OPERATOR_NOT_FOUND\n"));
  EXPECT_THAT(text, ContainsRegex("cpu:0 +0 B used, 0 B cached, of 1.0 GiB"));
}

TEST(StatisticsOutputTest, ShowsWhatHappensASecond) {
  client::Statistics now = Counted(1500, absl::Seconds(62));
  now.errors["SHAPE_MISMATCH"] = 5;
  now.engine.refused_wait = 3;
  const std::string text = RatesText(Counted(1000, absl::Seconds(60)), now, ShownMethods::kCalled);
  EXPECT_THAT(text, HasSubstr("refused: 0.0/s by calls, 0.0/s by bytes, 1.5/s by wait, 0.0/s by"));
  EXPECT_THAT(text, HasSubstr("error              2.5/s SHAPE_MISMATCH\n"));
  EXPECT_THAT(text, Not(HasSubstr("OPERATOR_NOT_FOUND")));  // none came since
  EXPECT_THAT(text, ContainsRegex("Execute +250.0 +0.0 +3 +500 KiB/s +0 B/s\n"));
  EXPECT_THAT(text, HasSubstr("mean wait 2ms, mean execution 0"));
  EXPECT_THAT(text, Not(HasSubstr("inf")));
}

TEST(StatisticsOutputTest, MethodsThatWereNotCalledAreShownWhereAllAre) {
  client::Statistics now = Counted(1000, absl::Seconds(60));
  now.methods.push_back({.method = "ListDevices", .ended = {{"OK", 0}}});
  now.methods.push_back({.method = "ServerLive", .ended = {}});
  now.methods.push_back({.method = "ModelInfer", .ended = {{"NOT_FOUND", 1}}});
  now.methods.push_back({.method = "Session", .ended = {}, .in_flight = 1});
  for (const std::string& text :
       {StatisticsText(now, ShownMethods::kCalled), RatesText(now, now, ShownMethods::kCalled)}) {
    for (const char* called : {"Execute ", "ModelInfer ", "Session "})
      EXPECT_THAT(text, HasSubstr(called));
    EXPECT_THAT(text, Not(HasSubstr("ListDevices")));
    EXPECT_THAT(text, Not(HasSubstr("ServerLive")));
  }
  for (const std::string& text :
       {StatisticsText(now, ShownMethods::kAll), RatesText(now, now, ShownMethods::kAll)}) {
    EXPECT_THAT(text, HasSubstr("ListDevices "));
    EXPECT_THAT(text, HasSubstr("ServerLive "));
  }
  const auto parsed = nlohmann::json::parse(StatisticsJson(now, "unix:/s"));
  EXPECT_EQ(parsed["methods"].size(), 5u);
}

TEST(StatisticsOutputTest, AServerThatWasStartedAnewCountsFromItsStart) {
  const std::string text = RatesText(Counted(9000, absl::Seconds(60)),
                                     Counted(100, absl::Seconds(2)), ShownMethods::kCalled);
  EXPECT_THAT(text, ContainsRegex("Execute +55.0 +5.0 "));
}

TEST(StatisticsOutputTest, TimesHaveThreeDigits) {
  client::Statistics statistics{.uptime = absl::Nanoseconds(4791912345)};
  statistics.engine.expected_wait = absl::Nanoseconds(123456);
  EXPECT_THAT(StatisticsText(statistics, ShownMethods::kCalled),
              HasSubstr("uptime             4.79s\n"));
  EXPECT_THAT(StatisticsText(statistics, ShownMethods::kCalled),
              HasSubstr("expected wait 123us\n"));
}

TEST(StatisticsOutputTest, NothingCountedIsNoNumber) {
  EXPECT_THAT(StatisticsText({}, ShownMethods::kCalled),
              HasSubstr("mean wait -, mean execution -"));
}

TEST(StatisticsOutputTest, SharedMemoryIsShownWhereThereIsSome) {
  client::Statistics statistics = Counted(1, absl::Minutes(1));
  EXPECT_THAT(StatisticsText(statistics, ShownMethods::kCalled), Not(HasSubstr("shared memory")));
  statistics.shared_memory = {
      .regions = 2, .bytes = 3 << 20, .limit_bytes = 512 << 20, .allocated = 7, .refused = 1};
  const std::string line =
      "shared memory      3.0 MiB of 512 MiB in 2 regions; 7 allocated, 1 refused\n";
  EXPECT_THAT(StatisticsText(statistics, ShownMethods::kCalled), HasSubstr(line));
  EXPECT_THAT(RatesText(statistics, statistics, ShownMethods::kCalled), HasSubstr(line));
  const auto parsed = nlohmann::json::parse(StatisticsJson(statistics, "unix:/s"));
  EXPECT_EQ(parsed["shared_memory"]["bytes"], 3 << 20);
}

TEST(StatisticsOutputTest, OperatorsAreShownWhereSomeWereCalled) {
  client::Statistics before = Counted(1, absl::Seconds(60));
  before.operators.clear();
  EXPECT_THAT(StatisticsText(before, ShownMethods::kCalled), Not(HasSubstr("operator ")));
  EXPECT_THAT(RatesText(before, before, ShownMethods::kCalled), Not(HasSubstr("operator ")));
  client::Statistics now = Counted(1, absl::Seconds(62));
  now.operators = {{.op = "L1Loss", .calls = 4, .execution = absl::Microseconds(80)},
                   {.op = "SmoothL1LossBackward",
                    .calls = 3000,
                    .failed_calls = 20,
                    .queue_wait = absl::Seconds(6),
                    .execution = absl::Seconds(3),
                    .input_bytes = 3 << 20,
                    .output_bytes = 1 << 20}};
  EXPECT_THAT(StatisticsText(now, ShownMethods::kCalled),
              ContainsRegex("operator +calls +failed +wait +execution +in +out\n"
                            "L1Loss +4 +0 +0 +20us +0 B +0 B\n"
                            "SmoothL1LossBackward +3000 +20 +2ms +1ms +3.0 MiB +1.0 MiB\n"));
  before.operators = {now.operators[1]};
  before.operators[0].calls = 1000;
  before.operators[0].execution = absl::Seconds(1);
  before.operators[0].output_bytes = 0;
  EXPECT_THAT(RatesText(before, now, ShownMethods::kCalled),
              ContainsRegex("L1Loss +2.0 +0.0 +0 +20us +0 B/s +0 B/s\n"
                            "SmoothL1LossBackward +1000.0 +0.0 +0 +1ms +0 B/s +512 KiB/s\n"));
  const auto parsed = nlohmann::json::parse(StatisticsJson(now, "unix:/s"))["operators"];
  ASSERT_EQ(parsed.size(), 2u);
  EXPECT_EQ(parsed[1]["operator"], "SmoothL1LossBackward");
  EXPECT_EQ(parsed[1]["failed_calls"], 20);
  EXPECT_EQ(parsed[1]["execution"], 3.0);
}

TEST(StatisticsOutputTest, JsonHasTheSame) {
  const auto parsed =
      nlohmann::json::parse(StatisticsJson(Counted(1000, absl::Minutes(90)), "unix:/s"));
  EXPECT_EQ(parsed["target"], "unix:/s");
  EXPECT_EQ(parsed["uptime"], 5400.0);
  EXPECT_EQ(parsed["methods"][0]["ended"]["OK"], 1000);
  EXPECT_EQ(parsed["errors"]["OPERATOR_NOT_FOUND"], 10);
  EXPECT_EQ(parsed["batches"]["calls"], 5);
  EXPECT_EQ(parsed["engine"]["queue_wait"], 3.0);
  EXPECT_EQ(parsed["devices"][0]["memory"]["limit_bytes"], 1 << 30);
}

}  // namespace
}  // namespace opserve::cli
