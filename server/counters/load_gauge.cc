#include "server/counters/load_gauge.h"

#include <algorithm>
#include <array>

namespace opserve::server {
namespace {

constexpr std::memory_order kRelaxed = std::memory_order_relaxed;
constexpr std::array<std::string_view, 3> kPolicyNames = {"off", "asked", "always"};

}  // namespace

std::string_view LoadReportPolicyName(LoadReportPolicy policy) {
  return kPolicyNames[static_cast<size_t>(policy)];
}

std::optional<LoadReportPolicy> ParseLoadReportPolicy(std::string_view name) {
  const auto* found = std::find(kPolicyNames.begin(), kPolicyNames.end(), name);
  if (found == kPolicyNames.end()) return std::nullopt;
  return static_cast<LoadReportPolicy>(found - kPolicyNames.begin());
}

void LoadGauge::Look(absl::Time now, const LoadCounts& counts, absl::Duration queue_wait) {
  queue_wait_ns_.store(absl::ToInt64Nanoseconds(queue_wait), kRelaxed);
  if (start_ > absl::InfinitePast()) {
    if (now - start_ < kWindow) return;
    const double seconds = absl::ToDoubleSeconds(now - start_);
    const auto rate = [seconds](double more) { return std::max(0.0, more / seconds); };
    cpu_utilization_.store(
        rate(absl::ToDoubleSeconds(counts.cpu_time - counts_at_start_.cpu_time)) / cores_,
        kRelaxed);
    calls_per_second_.store(
        rate(static_cast<double>(counts.calls.calls - counts_at_start_.calls.calls)), kRelaxed);
    failed_calls_per_second_.store(
        rate(static_cast<double>(counts.calls.failed - counts_at_start_.calls.failed)), kRelaxed);
  }
  start_ = now;
  counts_at_start_ = counts;
}

LoadLevels LoadGauge::levels() const {
  return {.cpu_utilization = cpu_utilization_.load(kRelaxed),
          .calls_per_second = calls_per_second_.load(kRelaxed),
          .failed_calls_per_second = failed_calls_per_second_.load(kRelaxed),
          .queue_wait = absl::Nanoseconds(queue_wait_ns_.load(kRelaxed))};
}

}  // namespace opserve::server
