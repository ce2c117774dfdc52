// What is shown of a server: metrics, the page, and the texts in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/http/views/history.h"
#include "server/http/views/html.h"
#include "server/http/views/metrics.h"
#include "server/http/views/number_text.h"
#include "server/http/views/open_metrics.h"
#include "server/http/views/page.h"
#include "tests/support/run.h"

namespace opserve::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kHostile[] = "<script>alert(1)</script>\" onload='x' \xff\x01 & \u202e";

ServerView BusyView() {
  ServerView view{.time = absl::FromUnixSeconds(1000), .uptime = absl::Minutes(5)};
  ServerCounts::OfMethod& execute = view.counts.methods[static_cast<size_t>(Method::kExecute)];
  execute = {.begun = 8, .request_bytes = 100, .response_bytes = 50, .took_ns = 2'500'000};
  execute.ended[0] = 5;
  execute.ended[3] = 2;
  execute.took[3] = 6;
  execute.took[24] = 1;
  view.counts.batch_calls = 20;
  view.counts.batch_sizes[3] = 4;
  OperatorStatistics op{.op = "L1Loss", .calls = 9, .execution = absl::Milliseconds(3)};
  op.ended[0] = 8;
  op.ended[13] = 1;
  op.executed[1] = 9;
  view.engine.operators = {op};
  view.counts.session_commands_begun = 7;
  view.counts.session_commands_ended = 4;
  view.devices = {{.info = {.name = "cpu:0", .description = "2 threads"}, .open_streams = 3}};
  return view;
}

TEST(MetricsTest, CountsByMethodAndCode) {
  const std::string text = WriteMetrics(BusyView());
  EXPECT_THAT(text, HasSubstr("# TYPE opserve_rpcs_total counter\n"));
  EXPECT_THAT(text, HasSubstr("opserve_rpcs_total{method=\"Execute\",code=\"OK\"} 5\n"));
  EXPECT_THAT(text,
              HasSubstr("opserve_rpcs_total{method=\"Execute\",code=\"INVALID_ARGUMENT\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("opserve_rpcs_in_flight{method=\"Execute\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("opserve_calls_total{operator=\"L1Loss\",code=\"INTERNAL\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("opserve_device_up{device=\"cpu:0\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("opserve_session_streams{device=\"cpu:0\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("opserve_session_commands_in_flight 3\n"));
}

TEST(MetricsTest, HistogramsAreCumulative) {
  const std::string text = WriteMetrics(BusyView());
  const std::string name = "opserve_rpc_duration_seconds";
  EXPECT_THAT(text, HasSubstr(name + "_count{method=\"Execute\"} 7\n"));
  EXPECT_THAT(text, HasSubstr(name + "_sum{method=\"Execute\"} 0.0025\n"));
  EXPECT_THAT(text, HasSubstr(name + "_bucket{method=\"Execute\",le=\"50\"} 6\n"));
  EXPECT_THAT(text, HasSubstr(name + "_bucket{method=\"Execute\",le=\"+Inf\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("opserve_batch_size_calls_bucket{le=\"8\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("opserve_batch_size_calls_sum 20\n"));
}

TEST(MetricsTest, AreAllNamedOnceAndDescribed) {
  std::set<std::string_view> names;
  for (const Metric& metric : AllMetrics()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_FALSE(metric.help.empty() || metric.help.ends_with('.')) << metric.name;
    EXPECT_EQ(metric.type == MetricType::kCounter, metric.name.ends_with("_total")) << metric.name;
  }
}

TEST(MetricsTest, ANameIsNeverMoreThanAName) {
  ServerView view = BusyView();
  view.devices[0].info.name = "a\"} 1\nopserve_ready 1\n\\";
  const std::string text = WriteMetrics(view);
  EXPECT_THAT(text, HasSubstr(R"(opserve_device_up{device="a\"} 1\nopserve_ready 1\n\\"} 1)"));
}

Exemplar SampleExemplar(absl::Duration value) {
  const auto trace = ParseTraceParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  return {.trace = trace.value(),
          .value = value,
          .time = absl::FromUnixSeconds(1000) + absl::Milliseconds(7)};
}

TEST(OpenMetricsTest, FamiliesHaveTheirTypesAndUnits) {
  const std::string text = WriteOpenMetrics(BusyView());
  EXPECT_THAT(text, HasSubstr("# TYPE opserve_rpcs counter\n# HELP opserve_rpcs Unary calls"));
  EXPECT_THAT(text, HasSubstr("\nopserve_rpcs_total{method=\"Execute\",code=\"OK\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE opserve_rpc_request_bytes counter\n"
                              "# UNIT opserve_rpc_request_bytes bytes\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE opserve_uptime_seconds gauge\n"
                              "# UNIT opserve_uptime_seconds seconds\n"));
  EXPECT_THAT(text, HasSubstr("\nopserve_uptime_seconds 300\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE opserve_build info\n"));
  EXPECT_THAT(text, HasSubstr("\nopserve_build_info{version=\"" OPSERVE_VERSION "\"} 1\n"));
  EXPECT_TRUE(absl::EndsWith(text, "\n# EOF\n"));
  EXPECT_THAT(text, Not(HasSubstr("\n\n"))) << "the format has no empty lines";
}

// As OpenMetrics asks for: names of samples must tell families apart.
TEST(OpenMetricsTest, NoFamilyHasTheNameOfAnother) {
  std::set<std::string> families;
  const std::vector<std::string> lines = absl::StrSplit(WriteOpenMetrics(BusyView()), '\n');
  for (const std::string& line : lines) {
    if (!absl::StartsWith(line, "# TYPE ")) continue;
    EXPECT_TRUE(families.insert(line.substr(7, line.find(' ', 7) - 7)).second) << line;
  }
  EXPECT_GT(families.size(), 40U);
}

TEST(OpenMetricsTest, BoundsAreNumbersWithAPointOrAnExponent) {
  const std::string text = WriteOpenMetrics(BusyView());
  const std::string bucket = "\nopserve_rpc_duration_seconds_bucket{method=\"Execute\",le=\"";
  for (const char* bound : {"1e-06", "5e-05", "0.0001", "0.005", "1.0", "50.0", "+Inf"})
    EXPECT_THAT(text, HasSubstr(bucket + bound + "\"} "));
  EXPECT_THAT(text, HasSubstr(bucket + "+Inf\"} 7\nopserve_rpc_duration_seconds_count{"));
  EXPECT_THAT(text, HasSubstr("\nopserve_rpc_duration_seconds_sum{method=\"Execute\"} 0.0025\n"));
  EXPECT_THAT(text, HasSubstr("\nopserve_batch_size_calls_bucket{le=\"8.0\"} 4\n"));
}

TEST(OpenMetricsTest, ATracedCallIsAtItsBucket) {
  ServerView view = BusyView();
  view.exemplars[{TimedPart::kRpc, "Execute", 3}] = SampleExemplar(absl::Nanoseconds(7500));
  Exemplar begun_here = SampleExemplar(absl::Microseconds(2));
  begun_here.trace.parent_id = {};
  view.exemplars[{TimedPart::kExecution, "L1Loss", 1}] = begun_here;
  view.exemplars[{TimedPart::kQueue, "L1Loss", 24}] = SampleExemplar(absl::Seconds(60));
  const std::string text = WriteOpenMetrics(view);
  EXPECT_THAT(text, HasSubstr("_duration_seconds_bucket{method=\"Execute\",le=\"1e-05\"} 6 # "
                              "{trace_id=\"4bf92f3577b34da6a3ce929d0e0e4736\","
                              "span_id=\"00f067aa0ba902b7\"} 7.5e-06 1000.007\n"));
  EXPECT_THAT(text, HasSubstr("_execution_seconds_bucket{operator=\"L1Loss\",le=\"2e-06\"} 9 # "
                              "{trace_id=\"4bf92f3577b34da6a3ce929d0e0e4736\"} 2e-06 1000.007\n"));
  EXPECT_THAT(text, HasSubstr("_queue_seconds_bucket{operator=\"L1Loss\",le=\"+Inf\"} 0 # "));
  size_t exemplars = 0;
  for (size_t at = text.find(" # "); at != std::string::npos; at = text.find(" # ", at + 1))
    ++exemplars;
  EXPECT_EQ(exemplars, 3U);
  EXPECT_THAT(WriteMetrics(view), Not(HasSubstr("trace_id"))) << "the older format has none";
}

TEST(OpenMetricsTest, ANameIsNeverMoreThanAName) {
  ServerView view = BusyView();
  view.devices[0].info.name = "a\"} 1\nopserve_ready 1\n\\";
  EXPECT_THAT(WriteOpenMetrics(view),
              HasSubstr(R"(opserve_device_up{device="a\"} 1\nopserve_ready 1\n\\"} 1)"));
}

TEST(OpenMetricsTest, IsForClientsThatPreferIt) {
  // Prometheus's own.
  EXPECT_TRUE(PrefersOpenMetrics(
      "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
      "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"));
  for (const char* accept :
       {"application/openmetrics-text", "Application/OpenMetrics-Text ; charset=utf-8; q=0.2",
        "text/plain;q=0.1, application/openmetrics-text; version=\"1.0.0\"; q=0.1"})
    EXPECT_TRUE(PrefersOpenMetrics(accept)) << accept;
  for (const char* accept :
       {"", "*/*", "text/html,*/*;q=0.8", "text/plain;version=0.0.4",
        "application/openmetrics-text;q=0", "application/openmetrics-text;q=nan",
        "application/openmetrics-text;q=0.5,text/plain", "application/openmetrics-text;version=2.0",
        "application/openmetrics-textual", ",;,=;q=,\xff"})
    EXPECT_FALSE(PrefersOpenMetrics(accept)) << accept;
}

TEST(HtmlTextTest, NothingIsMarkup) {
  EXPECT_EQ(HtmlText("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(HtmlText("µ – 数 😀\n\t"), "µ – 数 😀\n\t");
}

TEST(HtmlTextTest, WhatIsNoTextIsReplaced) {
  const std::string replaced = "\uFFFD";
  EXPECT_EQ(HtmlText(std::string_view("\0\x7f", 2)), replaced + replaced);
  EXPECT_EQ(HtmlText("\xff<"), replaced + "&lt;");
  EXPECT_EQ(HtmlText("\xc3"), replaced);
  EXPECT_EQ(HtmlText("\xc3<"), replaced + "&lt;");
  EXPECT_EQ(HtmlText("\xc0\xbc"), replaced + replaced);                 // '<', too long
  EXPECT_EQ(HtmlText("\xed\xa0\x80"), replaced + replaced + replaced);  // half a pair
  EXPECT_EQ(HtmlText("\xf4\x90\x80\x80"), replaced + replaced + replaced + replaced);
  EXPECT_EQ(HtmlText("\u202e\u2066\u200b"), replaced + replaced + replaced);
}

TEST(NumberTextTest, HasThreeDigitsAndAUnit) {
  EXPECT_EQ(CountText(0), "0");
  EXPECT_EQ(CountText(7), "7");
  EXPECT_EQ(CountText(0.25), "0.25");
  EXPECT_EQ(CountText(0.001), "<0.01");
  EXPECT_EQ(CountText(999), "999");
  EXPECT_EQ(CountText(1234), "1.23k");
  EXPECT_EQ(CountText(98'765'432), "98.8M");
  EXPECT_EQ(BytesText(512), "512 B");
  EXPECT_EQ(BytesText(1536), "1.50 KiB");
  EXPECT_EQ(BytesText(256 << 20), "256 MiB");
  EXPECT_EQ(TimeText(absl::ZeroDuration()), "0 s");
  EXPECT_EQ(TimeText(absl::Nanoseconds(850)), "850 ns");
  EXPECT_EQ(TimeText(absl::Microseconds(12.34)), "12.3 µs");
  EXPECT_EQ(TimeText(absl::Seconds(1.5)), "1.50 s");
  EXPECT_EQ(TimeText(absl::InfiniteDuration()), "> 50 s");
  EXPECT_EQ(LongTimeText(absl::Seconds(42)), "42 s");
  EXPECT_EQ(LongTimeText(absl::Seconds(200)), "3 min 20 s");
  EXPECT_EQ(LongTimeText(absl::Hours(100)), "4 d 4 h");
}

TEST(QuantileTest, LiesWithinItsBucket) {
  DurationCounts counts = {};
  EXPECT_EQ(QuantileOf(counts, 0.5), absl::ZeroDuration());
  counts[2] = 10;  // 2 to 5 µs
  EXPECT_EQ(QuantileOf(counts, 0.5), absl::Nanoseconds(3500));
  EXPECT_EQ(QuantileOf(counts, 1), absl::Microseconds(5));
  counts[24] = 1;
  EXPECT_EQ(QuantileOf(counts, 0.5), absl::Nanoseconds(3650));
  EXPECT_EQ(QuantileOf(counts, 0.99), absl::InfiniteDuration());
}

TEST(HistoryTest, KeepsTwoMinutes) {
  const std::unique_ptr<Engine> engine = opserve::testing::MakeEngine(1);
  ServerCounters counters;
  History history;
  absl::Time now = absl::FromUnixSeconds(1000);
  for (int i = 0; i < 100; ++i) {
    history.Note(now, counters, *engine);
    history.Note(now + History::kInterval / 2, counters, *engine);  // too soon
    counters.SessionOpened();
    now += History::kInterval;
  }
  EXPECT_EQ(history.moments().size(), History::kIntervals + 1);
  EXPECT_EQ(history.span(), absl::Minutes(2));
  const std::vector<double> rates =
      history.Rates([](const History::Moment& moment) { return moment.counts.sessions_opened; });
  EXPECT_THAT(rates, ::testing::SizeIs(History::kIntervals));
  EXPECT_THAT(rates, ::testing::Each(0.25));
}

// Tags and attributes are those of the page itself, whatever the texts in it are.
std::string MarkupOf(const std::string& html) {
  std::string markup;
  bool is_inside = false;
  for (const char c : html) {
    is_inside = is_inside || c == '<';
    if (is_inside) markup.push_back(c);
    is_inside = is_inside && c != '>';
  }
  return markup;
}

ServerView ViewOf(const std::string& text) {
  ServerView view = BusyView();
  view.not_ready = {text};
  view.devices[0].info.name = text;
  view.devices[0].info.description = text;
  view.devices[0].lost = text;
  view.errors = {{.time = view.time, .what = text, .reason = "INTERNAL", .message = text}};
  return view;
}

TEST(PageTest, NoTextInItIsMarkup) {
  const auto page = [](const std::string& text) {
    const PageOptions options{.addresses = {text}, .flags = {{.name = text, .value = text}}};
    return WritePage(ViewOf(text), History(), options, absl::Seconds(5));
  };
  const std::string hostile = page(kHostile);
  EXPECT_THAT(hostile, Not(HasSubstr("<script")));
  EXPECT_THAT(hostile, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;&quot; onload=&#39;x&#39;"));
  EXPECT_EQ(MarkupOf(hostile), MarkupOf(page("harmless")));
}

TEST(PageTest, SaysWhatTheServerDoes) {
  ServerView view = BusyView();
  view.not_ready = {"the server is draining"};
  const std::string page =
      WritePage(view, History(), {.addresses = {"localhost:8500"}}, absl::ZeroDuration());
  for (const char* text : {OPSERVE_VERSION, "not ready", "the server is draining", "localhost:8500",
                           "L1Loss", "Execute", "cpu:0", "2 threads", "5 min 0 s"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
  EXPECT_THAT(page, Not(HasSubstr("http-equiv")));
  EXPECT_THAT(WritePage(view, History(), {}, absl::Seconds(5)),
              HasSubstr("<meta http-equiv=\"refresh\" content=\"5\">"));
}

TEST(PageTest, LoadsNothing) {
  const std::string page = WritePage(BusyView(), History(), {}, absl::Seconds(5));
  for (const char* part : {"http://", "https://", "src=", "url(", "@import", "<link", "<script"})
    EXPECT_THAT(page, Not(HasSubstr(part)));
}

}  // namespace
}  // namespace opserve::server
