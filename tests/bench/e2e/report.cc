#include "tests/bench/e2e/report.h"

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "client/loadtest/report/run_report.h"

namespace opserve::bench {
namespace {

using loadtest::Failure;
using loadtest::LatencyReport;
using loadtest::LevelReport;
using nlohmann::json;

double Microseconds(absl::Duration time) { return absl::ToDoubleMicroseconds(time); }

json LatencyOf(const LatencyReport& latency) {
  return {{"count", latency.count},           {"mean", Microseconds(latency.mean)},
          {"p50", Microseconds(latency.p50)}, {"p90", Microseconds(latency.p90)},
          {"p99", Microseconds(latency.p99)}, {"p999", Microseconds(latency.p999)},
          {"max", Microseconds(latency.max)}};
}

json IntervalsOf(const LevelReport& level) {
  json intervals = json::array();
  for (const loadtest::Window& window : level.windows) {
    intervals.push_back({{"begin_seconds", absl::ToDoubleSeconds(window.begin)},
                         {"latency_us", {{"p99", Microseconds(window.p99)}}},
                         {"failed", window.failed_calls},
                         {"unsent", window.unsent_calls}});
  }
  return intervals;
}

absl::Status CheckAnswers(const LevelReport& level) {
  for (const auto* failures : {&level.warm_up_failures, &level.failures}) {
    for (const Failure& failure : *failures) {
      if (failure.code == "DATA_LOSS" || failure.code == "INTERNAL")
        return absl::InternalError(failure.example);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> MakeReport(Measurement& measurement, const RunFacts& facts) {
  const LevelReport level = loadtest::MakeLevelReport(measurement, {"load"}, {}, {});
  if (absl::Status status = CheckAnswers(level); !status.ok()) return status;
  const double gigabytes = (level.request_bytes_per_second + level.answer_bytes_per_second) / 1e9;
  const double seconds = absl::ToDoubleSeconds(level.measured);
  json report = {{"seconds", seconds},
                 {"latency_us", LatencyOf(level.latency)},
                 {"failed_latency_us", LatencyOf(level.refusal)},
                 {"failed", json::object()},
                 {"unsent", level.unsent_calls},
                 {"calls_per_second", level.calls_per_second},
                 {"gigabytes_per_second", gigabytes},
                 {"server",
                  {{"cpu_seconds", facts.server_cpu_seconds},
                   {"peak_rss_bytes", facts.server_peak_rss_bytes}}},
                 {"client", {{"cpu_seconds", facts.client_cpu_seconds}}},
                 {"intervals", IntervalsOf(level)}};
  for (const Failure& failure : level.failures) {
    json& count = report["failed"][failure.code];
    count = count.is_null() ? failure.calls : count.get<int64_t>() + failure.calls;
  }
  if (gigabytes > 0)
    report["server"]["cpu_seconds_per_gigabyte"] = facts.server_cpu_seconds / seconds / gigabytes;
  return report.dump(1);
}

}  // namespace opserve::bench
