#include "server/http/views/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <utility>

#include "server/http/views/open_metrics.h"

namespace opserve::server {
namespace {

using prometheus::ClientMetric;

prometheus::MetricType TypeOf(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return prometheus::MetricType::Counter;
    case MetricType::kGauge:
      return prometheus::MetricType::Gauge;
    case MetricType::kHistogram:
      break;
  }
  return prometheus::MetricType::Histogram;
}

// The last of the counts is of what no bound holds.
template <typename BoundOf>
ClientMetric::Histogram MakeHistogram(std::span<const int64_t> counts, double sum,
                                      const BoundOf& bound_of) {
  ClientMetric::Histogram histogram{.sample_sum = sum};
  for (size_t i = 0; i < counts.size(); ++i) {
    histogram.sample_count += static_cast<uint64_t>(counts[i]);
    const bool is_last = i + 1 == counts.size();
    histogram.bucket.push_back(
        {.cumulative_count = histogram.sample_count,
         .upper_bound = is_last ? std::numeric_limits<double>::infinity() : bound_of(i)});
  }
  return histogram;
}

std::vector<ClientMetric::Label> LabelsOf(const Metric& metric,
                                          std::initializer_list<std::string_view> values) {
  std::vector<ClientMetric::Label> labels;
  auto name = metric.labels.begin();
  for (const std::string_view value : values)
    labels.push_back({.name = std::string(*name++), .value = std::string(value)});
  return labels;
}

prometheus::MetricFamily FamilyOf(const Metric& metric, const ServerView& view) {
  prometheus::MetricFamily family{.name = std::string(metric.name),
                                  .help = std::string(metric.help),
                                  .type = TypeOf(metric.type)};
  MetricSeries series(metric, family);
  metric.fill(view, series);
  return family;
}

const Exemplar* FindExemplar(const Metric& metric, const ExemplarMap& kept,
                             const ClientMetric& series, size_t bucket) {
  if (!metric.exemplars.has_value()) return nullptr;
  const auto found = kept.find({*metric.exemplars, series.label.front().value, bucket});
  return found == kept.end() ? nullptr : &found->second;
}

}  // namespace

void MetricSeries::Add(std::initializer_list<std::string_view> labels, double value) {
  ClientMetric metric{.label = LabelsOf(metric_, labels)};
  if (metric_.type == MetricType::kCounter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
  family_.metric.push_back(std::move(metric));
}

void MetricSeries::AddTimes(std::initializer_list<std::string_view> labels,
                            const DurationCounts& counts, absl::Duration sum) {
  ClientMetric metric{.label = LabelsOf(metric_, labels)};
  metric.histogram = MakeHistogram(counts, absl::ToDoubleSeconds(sum), [](size_t i) {
    return static_cast<double>(kDurationBoundsNs[i]) / 1e9;
  });
  family_.metric.push_back(std::move(metric));
}

void MetricSeries::AddSizes(std::span<const int64_t> counts, int64_t sum) {
  ClientMetric metric;
  metric.histogram = MakeHistogram(counts, static_cast<double>(sum),
                                   [](size_t i) { return static_cast<double>(int64_t{1} << i); });
  family_.metric.push_back(std::move(metric));
}

std::string WriteMetrics(const ServerView& view) {
  std::vector<prometheus::MetricFamily> families;
  for (const Metric& metric : AllMetrics()) {
    prometheus::MetricFamily family = FamilyOf(metric, view);
    if (!family.metric.empty()) families.push_back(std::move(family));
  }
  return prometheus::TextSerializer().Serialize(families);
}

std::string WriteOpenMetrics(const ServerView& view) {
  std::string text;
  for (const Metric& metric : AllMetrics()) {
    const prometheus::MetricFamily family = FamilyOf(metric, view);
    if (family.metric.empty()) continue;
    AppendOpenMetrics(family, text, [&](const ClientMetric& series, size_t bucket) {
      return FindExemplar(metric, view.exemplars, series, bucket);
    });
  }
  return text.append(kOpenMetricsEnd);
}

}  // namespace opserve::server
