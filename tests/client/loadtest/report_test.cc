#include "client/loadtest/report/run_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/loadtest/report/texts.h"
#include "core/base/strings.h"
#include "tests/support/status_matchers.h"

namespace opserve::loadtest {
namespace {

using nlohmann::json;

const absl::Time kBegin = absl::FromUnixSeconds(1000);

// A run of two levels, of one second and 100 calls of 1 to 100 ms each.
RunReport SampleRun() {
  RunReport run{.title = "sample", .server_version = "0.1.0", .targets = {"a:1"}, .mode = "unary"};
  for (const int in_flight : {1, 8}) {
    Measurement measurement{.level = {.name = std::to_string(in_flight), .load = 1.0 * in_flight},
                            .recorder = std::make_unique<Recorder>(1)};
    Recorder& recorder = *measurement.recorder;
    recorder.Begin(kBegin, Keep::kAll);
    for (int i = 1; i <= 100; ++i) {
      recorder.Answered({.due = kBegin, .sent = kBegin, .answered = kBegin + absl::Milliseconds(i)},
                        {.executions = 1, .executed = absl::Microseconds(5), .answer_bytes = 10});
    }
    recorder.Answered({.due = kBegin, .sent = kBegin, .answered = kBegin},
                      {.status = absl::UnavailableError("</script>\xff gone")});
    measurement.windows.push_back(recorder.CloseWindow(kBegin + absl::Seconds(1)));
    recorder.End(kBegin + absl::Seconds(1));
    run.levels.push_back(MakeLevelReport(measurement, {"L1Loss"}, {}, {.goal_quantile = 0.2}));
  }
  return run;
}

TEST(ReportTest, FiguresAreThoseOfTheRecorder) {
  const RunReport run = SampleRun();
  const LevelReport& level = run.levels.front();
  EXPECT_EQ(level.served_calls, 100);
  EXPECT_EQ(level.failed_calls, 1);
  EXPECT_DOUBLE_EQ(level.calls_per_second, 100);
  EXPECT_DOUBLE_EQ(level.answer_bytes_per_second, 1000);
  EXPECT_EQ(level.latency.max, absl::Milliseconds(100));
  EXPECT_NEAR(absl::ToDoubleMilliseconds(level.latency.p99), 99, 1);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(level.goal_latency), 20, 1);
  EXPECT_EQ(level.executed.mean, absl::Microseconds(5));
  EXPECT_NEAR(level.FailedFraction(), 1.0 / 101, 1e-9);
}

// One that a server answers once a second, of which three messages a second are due.
TEST(ReportTest, AnOpenLoopThatFallsBehindHasTheRateOfItsAnswers) {
  Measurement measurement{.level = {.name = "3/s", .load = 3, .open = OpenLoop()},
                          .recorder = std::make_unique<Recorder>(1)};
  Recorder& recorder = *measurement.recorder;
  recorder.Begin(kBegin, Keep::kAll);
  for (int i = 1; i <= 12; ++i) {
    if (i == 5) recorder.End(kBegin + absl::Seconds(4.5));
    recorder.Answered({.due = kBegin, .sent = kBegin, .answered = kBegin + absl::Seconds(i)},
                      {.answer_bytes = 10});
  }
  const LevelReport level = MakeLevelReport(measurement, {"L1Loss"}, {}, {});
  EXPECT_DOUBLE_EQ(level.calls_per_second, 4 / 4.5);
  EXPECT_DOUBLE_EQ(level.answer_bytes_per_second, 40 / 4.5);
  EXPECT_EQ(level.served_calls, 12);
}

TEST(ReportTest, JsonReadsBack) {
  const json run = json::parse(ReportJson(SampleRun()), nullptr, false);
  ASSERT_TRUE(run.is_object());
  EXPECT_EQ(run["title"], "sample");
  ASSERT_EQ(run["levels"].size(), 2U);
  EXPECT_EQ(run["levels"][1]["load"], 8);
  EXPECT_EQ(run["levels"][0]["latency_us"]["max"], 100'000);
  EXPECT_EQ(run["levels"][0]["failures"][0]["code"], "UNAVAILABLE");
  EXPECT_EQ(run["levels"][0]["totals"]["calls"], 101);
  int64_t in_buckets = 0;
  for (const json& bucket : run["levels"][0]["latency_us"]["buckets"])
    in_buckets += bucket[1].get<int64_t>();
  EXPECT_EQ(in_buckets, 100);
}

TEST(CeilingTest, IsAskedForWhereTheLoadMayHaveBeenLimited) {
  RunReport run = SampleRun();
  LevelReport* limited = FindLimitedLevel(run);
  ASSERT_NE(limited, nullptr);
  run.levels[1].calls_per_second *= 2;
  EXPECT_EQ(FindLimitedLevel(run), &run.levels[1]) << "the most calls a second";
  for (LevelReport& level : run.levels) {
    level.is_open = true;
    level.load = level.calls_per_second;
  }
  EXPECT_EQ(FindLimitedLevel(run), nullptr) << "open loops that kept their rates";
  run.levels[0].load *= 1.2;
  EXPECT_EQ(FindLimitedLevel(run), &run.levels[0]) << "one that fell behind";
  run.levels[0].served_calls = 0;
  run.levels[1].unsent_calls = 1;
  EXPECT_EQ(FindLimitedLevel(run), &run.levels[1]) << "one that could not send all";
}

TEST(CeilingTest, IsToldWhereItIsNear) {
  RunReport run = SampleRun();  // 100 calls a second
  NoteCeiling(126, run.levels[0], run);
  EXPECT_EQ(run.levels[0].warnings.size(), 0U);
  const json far = json::parse(ReportJson(run), nullptr, false)["ceiling"];
  EXPECT_EQ(far["calls_per_second"], 126);
  EXPECT_EQ(far["near"], false);
  NoteCeiling(125, run.levels[0], run);
  const json near = json::parse(ReportJson(run), nullptr, false)["ceiling"];
  EXPECT_EQ(near["level"], "1");
  EXPECT_EQ(near["share"], 0.8);
  EXPECT_EQ(near["near"], true);
  const std::string table = ReportTable(run);
  EXPECT_NE(table.find("1: this program reaches only 125 calls/s against a server that does"),
            std::string::npos)
      << table;
}

TEST(CeilingTest, OneThatIsNotKnownIsSaid) {
  RunReport run = SampleRun();
  NoteCeiling(absl::CancelledError("Ctrl-C"), run.levels[0], run);
  EXPECT_EQ(run.levels[0].warnings.size(), 0U);
  NoteCeiling(absl::UnavailableError("no port"), run.levels[0], run);
  ASSERT_EQ(run.levels[0].warnings.size(), 1U);
  EXPECT_EQ(run.levels[0].warnings[0], "what this program can do itself is not known: no port");
  EXPECT_FALSE(run.ceiling.has_value());
  EXPECT_FALSE(json::parse(ReportJson(run), nullptr, false).contains("ceiling"));
}

TEST(ReportTest, CsvHasALineALevel) {
  const std::string csv = ReportCsv(SampleRun());
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  const std::string header = csv.substr(0, csv.find('\n'));
  const std::string line = csv.substr(header.size() + 1, csv.find('\n', header.size() + 1));
  EXPECT_EQ(std::count(header.begin(), header.end(), ','),
            std::count(line.begin(), line.begin() + static_cast<long>(line.find('\n')), ','));
}

TEST(ReportTest, TheTableTellsWhatFailed) {
  const std::string table = ReportTable(SampleRun());
  EXPECT_NE(table.find("p99.99"), std::string::npos) << table;
  EXPECT_NE(table.find("1 x UNAVAILABLE"), std::string::npos) << table;
}

TEST(ReportTest, TheTableTellsWhatIsOfAllWindows) {
  RunReport run = SampleRun();
  EXPECT_EQ(ReportTable(run).find("all windows"), std::string::npos);
  for (LevelReport& level : run.levels) level.wanted_stable = true;
  run.levels.back().works.resize(2);
  const std::string table = ReportTable(run);
  EXPECT_NE(table.find("at 8, all windows"), std::string::npos) << table;
  EXPECT_NE(table.find("1, all windows: 1 x UNAVAILABLE"), std::string::npos) << table;
}

// Texts of a server are data on the page, not part of it.
TEST(ReportTest, ThePageIsWholeAndHoldsNoMarkupOfOthers) {
  const auto run = CheckedReportJson("run.json", ReportJson(SampleRun()));
  ASSERT_THAT(run, testing::IsOk());
  const std::string page = ReportPage({*run, *run});
  EXPECT_EQ(page.find("<!doctype html>"), 0U);
  EXPECT_EQ(page.find("</script>\xff"), std::string::npos);
  size_t scripts = 0;
  for (size_t at = page.find("</script"); at != std::string::npos;
       at = page.find("</script", at + 1))
    ++scripts;
  EXPECT_EQ(scripts, 2U);
  EXPECT_EQ(page.find("@RUNS@"), std::string::npos);
  EXPECT_EQ(page.find("http://www.w3.org"), page.find("http:")) << "nothing is fetched";
  EXPECT_EQ(page.find("https:"), std::string::npos);
}

TEST(ReportTest, OtherJsonIsRefused) {
  json other = json::parse(ReportJson(SampleRun()));
  other["levels"][0]["latency_us"]["p99"] = "alert(1)";
  for (const std::string& text : {std::string(), std::string("{}"), std::string("[1]"),
                                  std::string(R"({"format":"opserve-bench-1","levels":[1]})"),
                                  std::string(R"({"format":"opserve-bench-1"})"), other.dump()}) {
    const auto run = CheckedReportJson("old.json", text);
    ASSERT_FALSE(run.ok()) << text.substr(0, 80);
    EXPECT_EQ(ToStd(run.status().message()).find("old.json: want"), 0U) << run.status();
  }
}

TEST(ShortTextTest, NumbersHaveThreeDigits) {
  EXPECT_EQ(ShortTime(absl::Nanoseconds(853)), "853ns");
  EXPECT_EQ(ShortTime(absl::Microseconds(12.34)), "12.3us");
  EXPECT_EQ(ShortTime(absl::Microseconds(999.96)), "1.00ms");
  EXPECT_EQ(ShortTime(absl::Seconds(83)), "83.0s");
  EXPECT_EQ(ShortTime(absl::ZeroDuration()), "0ns");
  EXPECT_EQ(ShortCount(7), "7");
  EXPECT_EQ(ShortCount(1234), "1.23k");
  EXPECT_EQ(ShortCount(0.5), "0.50");
  EXPECT_EQ(ShortCount(4'560'000), "4.56M");
}

}  // namespace
}  // namespace opserve::loadtest
