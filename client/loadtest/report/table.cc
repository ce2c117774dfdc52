#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/loadtest/report/texts.h"

namespace opserve::loadtest {
namespace {

// Of three digits, with the unit of its size.
std::string Short(double value, std::initializer_list<const char*> units, double factor) {
  const auto* unit = units.begin();
  while (value >= factor * 0.9995 && unit + 1 != units.end()) {
    value /= factor;
    ++unit;
  }
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  const bool whole = unit == units.begin() && value == std::floor(value);
  return absl::StrFormat("%.*f%s", whole ? 0 : decimals, value, *unit);
}

using Row = std::vector<std::string>;

std::string Aligned(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      absl::StrAppend(&text, i == 0 ? "" : "  ", i == 0 ? row[i] + padding : padding + row[i]);
    }
    text.append("\n");
  }
  return text;
}

Row LevelRow(const LevelReport& level) {
  const LatencyReport& latency = level.latency;
  Row row = {level.name, ShortCount(level.calls_per_second),
             ShortCount(level.request_bytes_per_second + level.answer_bytes_per_second)};
  for (const absl::Duration time :
       {latency.p50, latency.p90, latency.p99, latency.p999, latency.p9999, latency.max,
        level.queued.mean, level.executed.mean})
    row.push_back(ShortTime(time));
  row.push_back(absl::StrCat(level.failed_calls + level.unsent_calls));
  return row;
}

void AppendFailures(const std::string& level, const std::vector<Failure>& failures,
                    std::string& text) {
  for (const Failure& failure : failures) {
    absl::StrAppend(&text, level, ": ", failure.calls, " x ", failure.code,
                    failure.reason.empty() ? "" : " ", failure.reason, ": ", failure.example, "\n");
  }
}

// A level's name in front of what is counted in all windows, also where the last three are
// reported.
std::string NameOverAll(const LevelReport& level) {
  return level.wanted_stable ? level.name + ", all windows" : level.name;
}

void AppendNotes(const LevelReport& level, std::string& text) {
  for (const std::string& warning : level.warnings)
    absl::StrAppend(&text, level.name, ": ", warning, "\n");
  AppendFailures(level.name + ", warming up", level.warm_up_failures, text);
  AppendFailures(NameOverAll(level), level.failures, text);
}

// What each entry of a mix did, at the last level.
void AppendWorks(const LevelReport& level, std::string& text) {
  if (level.works.size() < 2) return;
  std::vector<Row> rows = {{"at " + NameOverAll(level), "calls", "p50", "p99", "max", "failed"}};
  for (const WorkReport& work : level.works) {
    rows.push_back({work.name, absl::StrCat(work.served_calls), ShortTime(work.latency.p50),
                    ShortTime(work.latency.p99), ShortTime(work.latency.max),
                    absl::StrCat(work.failed_calls)});
  }
  absl::StrAppend(&text, "\n", Aligned(rows));
}

}  // namespace

std::string ShortTime(absl::Duration time) {
  return Short(absl::ToDoubleNanoseconds(time), {"ns", "us", "ms", "s"}, 1000);
}

std::string ShortCount(double count) { return Short(count, {"", "k", "M", "G", "T"}, 1000); }

std::string ProgressLine(const std::string& level, const Window& window) {
  return absl::StrCat(
      level, "  ", absl::StrFormat("%.1fs", absl::ToDoubleSeconds(window.begin + window.length)),
      "  ", ShortCount(window.calls_per_second), " calls/s  p50 ", ShortTime(window.p50), "  p99 ",
      ShortTime(window.p99), "  max ", ShortTime(window.max), "  failed ",
      window.failed_calls + window.unsent_calls);
}

std::string ReportTable(const RunReport& report) {
  std::vector<Row> rows = {{"load", "calls/s", "bytes/s", "p50", "p90", "p99", "p99.9", "p99.99",
                            "max", "queued", "executed", "failed"}};
  for (const LevelReport& level : report.levels) rows.push_back(LevelRow(level));
  std::string text = Aligned(rows);
  if (!report.levels.empty()) AppendWorks(report.levels.back(), text);
  std::string notes;
  int64_t checked = 0;
  for (const LevelReport& level : report.levels) {
    AppendNotes(level, notes);
    checked += level.checked_calls;
  }
  absl::StrAppend(&text, "\n", notes, checked,
                  " answers compared with the first to their inputs\n");
  if (!report.search.has_value()) return text;
  const SearchReport& search = *report.search;
  absl::StrAppend(&text, search.goal, ": ",
                  search.highest > 0 ? absl::StrCat("kept up to ", search.level) : "never kept",
                  "\n");
  return text;
}

std::string ReportCsv(const RunReport& report) {
  std::string text =
      "load,calls_per_second,request_bytes_per_second,answer_bytes_per_second,served,failed,unsent,"
      "mean_us,p50_us,p90_us,p95_us,p99_us,p999_us,p9999_us,max_us,queued_mean_us,executed_mean_us,"
      "lag_p99_us,seconds\n";
  for (const LevelReport& level : report.levels) {
    absl::StrAppend(&text, level.load, ",", level.calls_per_second, ",",
                    level.request_bytes_per_second, ",", level.answer_bytes_per_second, ",",
                    level.served_calls, ",", level.failed_calls, ",", level.unsent_calls);
    const LatencyReport& latency = level.latency;
    for (const absl::Duration time :
         {latency.mean, latency.p50, latency.p90, latency.p95, latency.p99, latency.p999,
          latency.p9999, latency.max, level.queued.mean, level.executed.mean, level.lag_p99})
      absl::StrAppend(&text, ",", absl::ToDoubleMicroseconds(time));
    absl::StrAppend(&text, ",", absl::ToDoubleSeconds(level.measured), "\n");
  }
  return text;
}

}  // namespace opserve::loadtest
