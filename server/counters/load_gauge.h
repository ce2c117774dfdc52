// How busy the server is now, for balancers: rates and levels, made of counters that only grow.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/time/time.h"
#include "server/counters/server_counters.h"

namespace opserve::server {

// Which calls' answers tell of it.
enum class LoadReportPolicy : uint8_t { kOff, kAsked, kAlways };

// "off", "asked", "always".
std::string_view LoadReportPolicyName(LoadReportPolicy policy);
std::optional<LoadReportPolicy> ParseLoadReportPolicy(std::string_view name);

// What was counted until some moment.
struct LoadCounts {
  absl::Duration cpu_time;  // of the process, all its threads
  ServerCounts::Ended calls;
};

struct LoadLevels {
  double cpu_utilization = 0;  // of the cores that the process may use; 1 is all of them
  double calls_per_second = 0;
  double failed_calls_per_second = 0;
  absl::Duration queue_wait;  // that a call which came now would have to expect
};

// Rates are those of the last window that is over. One thread looks; any thread may ask for levels,
// which are read one after the other.
class LoadGauge {
 public:
  static constexpr absl::Duration kWindow = absl::Seconds(1);

  // `cores` is 1 at least.
  explicit LoadGauge(int cores) : cores_(cores) {}

  // To be called several times a window.
  void Look(absl::Time now, const LoadCounts& counts, absl::Duration queue_wait);
  LoadLevels levels() const;

 private:
  const int cores_;
  absl::Time start_ = absl::InfinitePast();  // of the window
  LoadCounts counts_at_start_;
  std::atomic<double> cpu_utilization_ = 0;
  std::atomic<double> calls_per_second_ = 0;
  std::atomic<double> failed_calls_per_second_ = 0;
  std::atomic<int64_t> queue_wait_ns_ = 0;
};

}  // namespace opserve::server
