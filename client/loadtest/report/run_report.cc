#include "client/loadtest/report/run_report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/loadtest/report/texts.h"

namespace opserve::loadtest {
namespace {

// Each doubling of a latency is this many bars of a plot.
constexpr size_t kBucketsPerOctave = 8;

double PerSecond(int64_t count, absl::Duration time) {
  return static_cast<double>(count) / std::max(1e-9, absl::ToDoubleSeconds(time));
}

void AddWarnings(const LevelReport& level, int cpus, std::vector<std::string>& warnings) {
  constexpr double kBusy = 0.85;
  if (level.client_cores > kBusy * cpus)
    warnings.push_back(absl::StrFormat(
        "this program took %.1f of its %d cores: it, not the server, may be what is slow",
        level.client_cores, cpus));
  if (level.is_open && level.lag_p99 > std::max(absl::Milliseconds(1), level.latency.p50 / 2))
    warnings.push_back(absl::StrFormat(
        "one message in a hundred left %s late or more: latencies are this machine's, too",
        absl::FormatDuration(absl::Trunc(level.lag_p99, absl::Microseconds(1)))));
  if (level.unsent_calls > 0)
    warnings.push_back(absl::StrFormat(
        "%d calls were due and not sent: see --max-outstanding and --senders", level.unsent_calls));
  if (level.wanted_stable && !level.stable)
    warnings.emplace_back("it did not become stable: these are the last windows that there were");
  if (level.interrupted) warnings.emplace_back("it was interrupted");
}

std::vector<WorkReport> MakeWorkReports(const Recorder& recorder,
                                        const std::vector<std::string>& names) {
  std::vector<WorkReport> reports;
  for (size_t i = 0; i < recorder.works(); ++i) {
    const Recorder::WorkTally& work = recorder.work(i);
    reports.push_back({.name = names[i],
                       .served_calls = work.served_calls,
                       .failed_calls = work.failed_calls,
                       .latency = MakeLatencyReport(work.latency)});
  }
  return reports;
}

}  // namespace

double LevelReport::FailedFraction() const {
  const auto failed = static_cast<double>(failed_calls + unsent_calls);
  const double all = failed + static_cast<double>(served_calls);
  return all > 0 ? failed / all : 0;
}

LatencyReport MakeLatencyReport(const Histogram& histogram) {
  LatencyReport report{.count = histogram.count(),
                       .mean = histogram.mean(),
                       .p50 = histogram.Quantile(0.5),
                       .p90 = histogram.Quantile(0.9),
                       .p95 = histogram.Quantile(0.95),
                       .p99 = histogram.Quantile(0.99),
                       .p999 = histogram.Quantile(0.999),
                       .p9999 = histogram.Quantile(0.9999),
                       .max = histogram.max()};
  histogram.ForEachBucket(kBucketsPerOctave, [&](absl::Duration top, int64_t count) {
    report.buckets.emplace_back(top, count);
  });
  return report;
}

LevelReport MakeLevelReport(Measurement& measurement, const std::vector<std::string>& names,
                            const MeasureOptions& options, const LevelFacts& facts) {
  Recorder& recorder = *measurement.recorder;
  const Tally& tally = recorder.Merged();
  const absl::Duration measured = recorder.measured();
  const bool is_open = measurement.level.open.has_value();
  LevelReport report{
      .name = measurement.level.name,
      .load = measurement.level.load,
      .is_open = is_open,
      .measured = measured,
      .calls_per_second = is_open ? recorder.InTimePerSecond() : recorder.ServedPerSecond(),
      .request_bytes_per_second = PerSecond(tally.request_bytes, measured),
      .answer_bytes_per_second = PerSecond(tally.answer_bytes, measured),
      .served_calls = tally.served_calls,
      .failed_calls = tally.failed_calls,
      .unsent_calls = tally.unsent_calls,
      .latency = MakeLatencyReport(tally.latency),
      .refusal = MakeLatencyReport(tally.refusal),
      .queued = MakeLatencyReport(tally.queued),
      .executed = MakeLatencyReport(tally.executed),
      .lag_p99 = tally.lag.Quantile(0.99),
      .goal_latency = tally.latency.Quantile(facts.goal_quantile),
      .failures = recorder.failures().List(),
      .warm_up_failures = recorder.early_failures().List(),
      .works = MakeWorkReports(recorder, names),
      .windows = measurement.windows,
      .wanted_stable = options.tolerance.has_value(),
      .stable = measurement.stable,
      .interrupted = measurement.interrupted,
      .client_cores = measurement.client_cores,
      .all_messages = recorder.totals().messages,
      .all_calls = recorder.totals().calls,
      .all_failed_calls = recorder.totals().failed_calls,
      .checked_calls = recorder.totals().checked_calls};
  AddWarnings(report, facts.cpus, report.warnings);
  return report;
}

LevelReport* FindLimitedLevel(RunReport& report) {
  constexpr double kKeptUp = 0.9;
  LevelReport* most = nullptr;
  for (LevelReport& level : report.levels) {
    const bool kept_up =
        level.is_open && level.unsent_calls == 0 && level.calls_per_second >= kKeptUp * level.load;
    if (kept_up || level.served_calls == 0) continue;
    if (most == nullptr || level.calls_per_second > most->calls_per_second) most = &level;
  }
  return most;
}

void NoteCeiling(const absl::StatusOr<double>& calls_per_second, LevelReport& level,
                 RunReport& report) {
  if (absl::IsCancelled(calls_per_second.status())) return;
  if (!calls_per_second.ok() || *calls_per_second <= 0) {
    level.warnings.push_back(absl::StrCat("what this program can do itself is not known: ",
                                          calls_per_second.ok()
                                              ? "the server that does nothing served no call"
                                              : calls_per_second.status().message()));
    return;
  }
  const CeilingReport& ceiling =
      report.ceiling.emplace(CeilingReport{.level = level.name,
                                           .calls_per_second = *calls_per_second,
                                           .share = level.calls_per_second / *calls_per_second});
  if (!ceiling.is_near()) return;
  level.warnings.push_back(absl::StrCat(
      "this program reaches only ", ShortCount(ceiling.calls_per_second),
      " calls/s against a server that does nothing: a faster server would hardly look faster"));
}

}  // namespace opserve::loadtest
