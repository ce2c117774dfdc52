#include <algorithm>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/loadtest/report/texts.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"

namespace opserve::loadtest {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "opserve-bench-1";
constexpr size_t kMaxRunBytes = size_t{64} << 20;

double Us(absl::Duration time) { return absl::ToDoubleMicroseconds(time); }

// Texts that come from a server may be no UTF-8.
std::string Dump(const json& value) {
  return value.dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace);
}

json LatencyJson(const LatencyReport& latency) {
  json buckets = json::array();
  for (const auto& [top, count] : latency.buckets) buckets.push_back({Us(top), count});
  return {{"count", latency.count},       {"mean", Us(latency.mean)},   {"p50", Us(latency.p50)},
          {"p90", Us(latency.p90)},       {"p95", Us(latency.p95)},     {"p99", Us(latency.p99)},
          {"p999", Us(latency.p999)},     {"p9999", Us(latency.p9999)}, {"max", Us(latency.max)},
          {"buckets", std::move(buckets)}};
}

json WindowJson(const Window& window) {
  return {{"begin", absl::ToDoubleSeconds(window.begin)},
          {"seconds", absl::ToDoubleSeconds(window.length)},
          {"calls_per_second", window.calls_per_second},
          {"request_bytes_per_second", window.request_bytes_per_second},
          {"answer_bytes_per_second", window.answer_bytes_per_second},
          {"failed", window.failed_calls},
          {"unsent", window.unsent_calls},
          {"p50_us", Us(window.p50)},
          {"p90_us", Us(window.p90)},
          {"p99_us", Us(window.p99)},
          {"max_us", Us(window.max)}};
}

json FailuresJson(const std::vector<Failure>& list) {
  json failures = json::array();
  for (const Failure& failure : list) {
    failures.push_back({{"code", failure.code},
                        {"reason", failure.reason},
                        {"calls", failure.calls},
                        {"example", failure.example}});
  }
  return failures;
}

json WorksJson(const LevelReport& level) {
  json works = json::array();
  for (const WorkReport& work : level.works) {
    works.push_back({{"name", work.name},
                     {"served", work.served_calls},
                     {"failed", work.failed_calls},
                     {"latency_us", LatencyJson(work.latency)}});
  }
  return works;
}

json LevelJson(const LevelReport& level) {
  json windows = json::array();
  for (const Window& window : level.windows) windows.push_back(WindowJson(window));
  return {{"name", level.name},
          {"load", level.load},
          {"loop", level.is_open ? "open" : "closed"},
          {"seconds", absl::ToDoubleSeconds(level.measured)},
          {"calls_per_second", level.calls_per_second},
          {"request_bytes_per_second", level.request_bytes_per_second},
          {"answer_bytes_per_second", level.answer_bytes_per_second},
          {"served", level.served_calls},
          {"failed", level.failed_calls},
          {"unsent", level.unsent_calls},
          {"latency_us", LatencyJson(level.latency)},
          {"refusal_us", LatencyJson(level.refusal)},
          {"queued_us", LatencyJson(level.queued)},
          {"executed_us", LatencyJson(level.executed)},
          {"lag_p99_us", Us(level.lag_p99)},
          {"client_cores", level.client_cores},
          {"stable", level.stable},
          {"interrupted", level.interrupted},
          {"warnings", level.warnings},
          {"failures", FailuresJson(level.failures)},
          {"warm_up_failures", FailuresJson(level.warm_up_failures)},
          {"operators", WorksJson(level)},
          {"windows", std::move(windows)},
          {"totals",
           {{"messages", level.all_messages},
            {"calls", level.all_calls},
            {"failed", level.all_failed_calls},
            {"checked", level.checked_calls}}}};
}

// What the page reads of a level: a number that is none would end its script.
bool IsLevel(const json& level) {
  if (!level.is_object()) return false;
  for (const char* name : {"load", "calls_per_second", "served", "failed", "unsent"})
    if (!level.contains(name) || !level[name].is_number()) return false;
  for (const char* name : {"latency_us", "queued_us", "executed_us"}) {
    if (!level.contains(name) || !level[name].is_object()) return false;
    for (const char* figure : {"mean", "p50", "p90", "p99", "p999", "p9999", "max", "count"})
      if (!level[name].contains(figure) || !level[name][figure].is_number()) return false;
    if (!level[name].contains("buckets") || !level[name]["buckets"].is_array()) return false;
  }
  for (const char* name : {"windows", "failures", "operators", "warnings"})
    if (!level.contains(name) || !level[name].is_array()) return false;
  return level.contains("name") && level["name"].is_string();
}

}  // namespace

std::string ReportJson(const RunReport& report) {
  json levels = json::array();
  for (const LevelReport& level : report.levels) levels.push_back(LevelJson(level));
  json run = {{"format", kFormat},
              {"title", report.title},
              {"version", report.version},
              {"server_version", report.server_version},
              {"targets", report.targets},
              {"mode", report.mode},
              {"connections", report.connections},
              {"started", report.started},
              {"seed", report.seed},
              {"client_cpus", report.client_cpus},
              {"prepared_calls", report.prepared_calls},
              {"levels", std::move(levels)}};
  if (report.search.has_value()) {
    run["search"] = {{"goal", report.search->goal},
                     {"highest", report.search->highest},
                     {"level", report.search->level}};
  }
  if (report.ceiling.has_value()) {
    run["ceiling"] = {{"level", report.ceiling->level},
                      {"calls_per_second", report.ceiling->calls_per_second},
                      {"share", report.ceiling->share},
                      {"near", report.ceiling->is_near()}};
  }
  return Dump(run);
}

absl::StatusOr<std::string> CheckedReportJson(const std::string& path, std::string_view text) {
  const json run = text.size() > kMaxRunBytes ? json() : json::parse(text, nullptr, false);
  const bool known = run.is_object() && run.contains("format") && run["format"] == kFormat &&
                     run.contains("levels") && run["levels"].is_array() &&
                     std::all_of(run["levels"].begin(), run["levels"].end(), IsLevel);
  if (known) return absl::StrReplaceAll(Dump(run), {{"<", "\\u003c"}});
  return InvalidParameter(path, "a report that opserve bench --json wrote", "something else");
}

}  // namespace opserve::loadtest
