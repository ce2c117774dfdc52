// What a load test is told, from the command line and from scenario files alike: one reader for
// both, so that they mean the same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/loadtest/calls/mode.h"
#include "client/loadtest/figures/arrivals.h"

namespace opserve::loadtest {

// What the load must keep: a quantile of the latency, and how many calls may fail.
struct Goal {
  std::string text;  // "p99<5ms"
  double quantile = 0.99;
  absl::Duration limit;
  double failed_fraction = 0.001;
};

struct Settings {
  Mode mode = Mode::kUnary;
  int batch = 100;
  int connections = 1;
  int idle_connections = 0;
  std::vector<int> concurrency;   // a closed loop at each
  std::vector<double> rates;      // an open loop at each, in calls a second
  std::vector<RatePhase> phases;  // one open loop: steps and ramps
  std::string replay;             // a file of arrivals
  Spacing spacing = Spacing::kRandom;
  int senders = 1;
  int64_t max_outstanding = 10'000;
  absl::Duration warm_up = absl::Seconds(1);
  absl::Duration duration = absl::Seconds(10);
  absl::Duration window = absl::Seconds(1);
  std::optional<double> tolerance;  // ends once three windows are that alike
  int64_t count = 0;                // messages at each level; 0 = as many as the duration takes
  absl::Duration timeout = absl::Seconds(10);  // of a call
  std::optional<Goal> goal;
  double checked_fraction = 0.01;
  uint64_t seed = 1;
};

struct SettingInfo {
  const char* name;  // "warm-up": a flag, and a key of scenario files
  const char* type;  // "DURATION"
  const char* help;
};
// All of them, in the order of --help.
std::span<const SettingInfo> AllSettings();

// Sets what `name` says. Errors (161002) name it, what was wanted and what came.
absl::Status Set(std::string_view name, std::string_view value, Settings& settings);

// What no single setting can tell: two ways to load at once.
absl::Status CheckTogether(const Settings& settings);

// The form in which settings are numbers: "1,2,8", "1..64" (doubling), "10..50+10", "1..81*3".
// Errors name `name`.
absl::StatusOr<std::vector<double>> ParseLevels(std::string_view name, std::string_view text);

// "500ms", "10s": above zero or zero, at most a day. Errors name `name`.
absl::StatusOr<absl::Duration> ParseTime(std::string_view name, std::string_view text);

}  // namespace opserve::loadtest
