// What a load test found, as values: the table, CSV, JSON and HTML are made of this.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/loadtest/figures/failures.h"
#include "client/loadtest/figures/histogram.h"
#include "client/loadtest/figures/recorder.h"
#include "client/loadtest/load/measure.h"

namespace opserve::loadtest {

struct LatencyReport {
  int64_t count = 0;
  absl::Duration mean, p50, p90, p95, p99, p999, p9999, max;
  std::vector<std::pair<absl::Duration, int64_t>> buckets;  // the largest of each, and how many
};

// Of one entry of the mix.
struct WorkReport {
  std::string name;
  int64_t served_calls = 0;
  int64_t failed_calls = 0;
  LatencyReport latency;
};

// Of one level.
struct LevelReport {
  std::string name;
  double load = 0;
  bool is_open = false;
  absl::Duration measured;
  double calls_per_second = 0;
  double request_bytes_per_second = 0;
  double answer_bytes_per_second = 0;
  int64_t served_calls = 0;
  int64_t failed_calls = 0;
  int64_t unsent_calls = 0;
  LatencyReport latency;          // of messages that were served
  LatencyReport refusal;          // of those that failed
  LatencyReport queued;           // of a call, by the server's word
  LatencyReport executed;         // likewise
  absl::Duration lag_p99;         // how late messages left
  absl::Duration goal_latency;    // the quantile that a goal is about
  std::vector<Failure> failures;  // of all windows, also where the last three are reported
  std::vector<Failure> warm_up_failures;
  std::vector<WorkReport> works;  // likewise
  std::vector<Window> windows;
  bool wanted_stable = false;
  bool stable = false;
  bool interrupted = false;
  double client_cores = 0;
  // With the warm-up and what came after: what the server has counted of it.
  int64_t all_messages = 0;
  int64_t all_calls = 0;
  int64_t all_failed_calls = 0;
  int64_t checked_calls = 0;
  std::vector<std::string> warnings;  // why its figures may say less than they seem to

  double FailedFraction() const;
};

struct SearchReport {
  std::string goal;
  double highest = 0;  // 0: none met it
  std::string level;   // its name
};

// What the load reached at one level, and what it reaches against a server that does nothing.
struct CeilingReport {
  std::string level;  // its name
  double calls_per_second = 0;
  double share = 0;  // the level's part of that

  // Whether a faster server would hardly look faster.
  bool is_near() const { return share >= 0.8; }
};

struct RunReport {
  std::string title;
  std::string version;  // of this program
  std::string server_version;
  std::vector<std::string> targets;
  std::string mode;
  int connections = 1;
  std::string started;  // in UTC
  uint64_t seed = 1;
  int client_cpus = 1;
  int64_t prepared_calls = 0;  // made before the first level
  std::vector<LevelReport> levels;
  std::optional<SearchReport> search;
  std::optional<CeilingReport> ceiling;
};

LatencyReport MakeLatencyReport(const Histogram& histogram);
struct LevelFacts {
  int cpus = 1;                 // that this process may use
  double goal_quantile = 0.99;  // for LevelReport::goal_latency
};
// `names` of the entries of the mix.
LevelReport MakeLevelReport(Measurement& measurement, const std::vector<std::string>& names,
                            const MeasureOptions& options, const LevelFacts& facts);

// The level of the most calls a second, of those that show what can be reached: closed loops, and
// open ones that fell behind. nullptr where there is none.
LevelReport* FindLimitedLevel(RunReport& report);

// Notes what this program reaches, of a level that FindLimitedLevel found: with a warning where the
// level is near that, or where it is not known. Nothing of a CANCELLED one.
void NoteCeiling(const absl::StatusOr<double>& calls_per_second, LevelReport& level,
                 RunReport& report);

}  // namespace opserve::loadtest
