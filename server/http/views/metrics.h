// The metrics of a server, as Prometheus reads them.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "core/base/duration_buckets.h"
#include "server/http/views/server_view.h"

namespace prometheus {
struct MetricFamily;
}  // namespace prometheus

namespace opserve::server {

enum class MetricType : uint8_t { kCounter, kGauge, kHistogram };

struct Metric;

// What a metric's numbers are added to.
class MetricSeries {
 public:
  MetricSeries(const Metric& metric, prometheus::MetricFamily& family)
      : metric_(metric), family_(family) {}

  // With a value for each of the metric's labels. Of counters and gauges.
  void Add(std::initializer_list<std::string_view> labels, double value);
  void Add(std::initializer_list<std::string_view> labels, int64_t value) {
    Add(labels, static_cast<double>(value));
  }
  // Of histograms: how many times were in each bucket, and their sum.
  void AddTimes(std::initializer_list<std::string_view> labels, const DurationCounts& counts,
                absl::Duration sum);
  // Likewise, of sizes: the bounds are powers of two.
  void AddSizes(std::span<const int64_t> counts, int64_t sum);

 private:
  const Metric& metric_;
  prometheus::MetricFamily& family_;
};

struct Metric {
  std::string_view name;
  MetricType type;
  std::vector<std::string_view> labels;
  std::string_view help;  // what it counts, without a full stop
  std::function<void(const ServerView& view, MetricSeries& series)> fill;
  // Whose exemplars its buckets have. The one label is of what they are kept.
  std::optional<TimedPart> exemplars = {};
};

// Every metric there is. How many series it has is bounded by operators, devices, methods, codes
// and reasons, of which clients choose none.
std::span<const Metric> AllMetrics();

// In Prometheus's text format, version 0.0.4.
std::string WriteMetrics(const ServerView& view);
inline constexpr std::string_view kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

// The same in the OpenMetrics text format, with exemplars.
std::string WriteOpenMetrics(const ServerView& view);
inline constexpr std::string_view kOpenMetricsContentType =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

}  // namespace opserve::server
