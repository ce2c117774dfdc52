#include "tests/bench/e2e/report.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "core/base/strings.h"

namespace opserve::bench {
namespace {

using nlohmann::json;

double Microseconds(absl::Duration time) { return absl::ToDoubleMicroseconds(time); }

json LatencyOf(const Histogram& histogram) {
  return {{"count", histogram.count()},
          {"mean", Microseconds(histogram.mean())},
          {"p50", Microseconds(histogram.Quantile(0.5))},
          {"p90", Microseconds(histogram.Quantile(0.9))},
          {"p99", Microseconds(histogram.Quantile(0.99))},
          {"p999", Microseconds(histogram.Quantile(0.999))},
          {"max", Microseconds(histogram.max())}};
}

json TallyOf(const Tally& tally) {
  json report = {{"latency_us", LatencyOf(tally.served)},
                 {"failed_latency_us", LatencyOf(tally.failed)},
                 {"failed", json::object()},
                 {"unsent", tally.unsent.load()}};
  for (size_t code = 0; code < Tally::kCodes; ++code) {
    if (tally.codes[code] == 0) continue;
    const std::string name = absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
    report["failed"][name] = tally.codes[code].load();
  }
  return report;
}

// From `begin` on, back to back.
json PhasesOf(const Recorder& recorder, int64_t calls_per_message) {
  json phases = json::array();
  absl::Time begin = recorder.layout().start;
  for (size_t i = 0; i < recorder.phases().size(); ++i) {
    const Tally& tally = *recorder.phases()[i];
    const double seconds = absl::ToDoubleSeconds(recorder.layout().phase_ends[i] - begin);
    json phase = TallyOf(tally);
    phase["seconds"] = seconds;
    phase["calls_per_second"] =
        static_cast<double>(tally.served.count() * calls_per_message) / seconds;
    phases.push_back(std::move(phase));
    begin = recorder.layout().phase_ends[i];
  }
  return phases;
}

json IntervalsOf(const Recorder& recorder) {
  json intervals = json::array();
  for (size_t i = 0; i < recorder.intervals().size(); ++i) {
    json interval = TallyOf(*recorder.intervals()[i]);
    interval["begin_seconds"] =
        absl::ToDoubleSeconds(recorder.layout().interval * static_cast<int64_t>(i));
    intervals.push_back(std::move(interval));
  }
  return intervals;
}

// Of a closed loop; an open one's are its phases'.
void AddRates(const Recorder& recorder, const RunFacts& facts, double seconds, json& report) {
  const double messages = recorder.ServedPerSecond();
  const double gigabytes =
      messages * static_cast<double>(facts.input_bytes + facts.output_bytes) / 1e9;
  report["calls_per_second"] = messages * static_cast<double>(facts.calls_per_message);
  report["gigabytes_per_second"] = gigabytes;
  if (gigabytes > 0)
    report["server"]["cpu_seconds_per_gigabyte"] = facts.server_cpu_seconds / seconds / gigabytes;
}

}  // namespace

std::string MakeReport(const Recorder& recorder, const RunFacts& facts) {
  const double seconds = absl::ToDoubleSeconds(recorder.layout().end - recorder.layout().start);
  json report = TallyOf(recorder.total());
  report["seconds"] = seconds;
  report["server"] = {{"cpu_seconds", facts.server_cpu_seconds},
                      {"peak_rss_bytes", facts.server_peak_rss_bytes}};
  if (recorder.phases().empty()) AddRates(recorder, facts, seconds, report);
  report["client"] = {{"cpu_seconds", facts.client_cpu_seconds}};
  report["phases"] = PhasesOf(recorder, facts.calls_per_message);
  report["intervals"] = IntervalsOf(recorder);
  return report.dump(1);
}

}  // namespace opserve::bench
